from ropewalk.kernels.arcs cimport ArcEnds, Workspace
from ropewalk.kernels.forest cimport top

cdef int CLOSES_CYCLE, CLOSING, INDEX, LEANS_LEFT, LEANS_NOWHERE, LEANS_RIGHT, OUTSIDE, RIGHTWARD, SECOND_HEAD
cdef int STRUCTURAL, SUPER, UNMATCHED_CLOSING, UNMATCHED_OPENING

cpdef void order(ArcEnds ends, int[::1] out, Workspace work) noexcept
cpdef void proper(ArcEnds ends, const int[::1] arcs, unsigned char[::1] structural, Workspace work) noexcept
cpdef void farthest(ArcEnds ends, unsigned char[::1] structural, Workspace work) noexcept
cpdef void lean(ArcEnds ends, const int[::1] arcs, const unsigned char[::1] structural, int[::1] rope,
                unsigned char[::1] side, Workspace work) noexcept
cpdef void thickness(ArcEnds ends, const unsigned char[::1] structural, int[::1] out, Workspace work) noexcept
cpdef int brackets(ArcEnds ends, const int[::1] arcs, const unsigned char[::1] side, int[::1] symbols, int[::1] starts,
                   Workspace work) noexcept
cpdef void match(const int[::1] labels, const int[::1] offsets, const int[::1] symbols, const int[::1] starts,
                 int keep_root, int trees, int[::1] heads, int[::1] dependents, int[::1] arc_offsets,
                 int[::1] fault_words, int[::1] fault_kinds, int[::1] counts, int[::1] kinds, int[::1] places,
                 int[::1] headed, int[::1] up) noexcept
cdef int _fault(int h, int d, int[::1] headed, int[::1] up) noexcept nogil
