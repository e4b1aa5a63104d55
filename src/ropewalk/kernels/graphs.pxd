from ropewalk.kernels.arcs cimport ArcEnds

cdef int GRAPH_FARTHEST_LEFT, GRAPH_FARTHEST_RIGHT, GRAPH_HAS_LEFT, GRAPH_HAS_RIGHT
cdef int GRAPH_LEFT_DEPENDENT, GRAPH_RIGHT_DEPENDENT, ONE_HEAD
cdef int UNMATCHED_CLOSING, UNMATCHED_OPENING

cdef class Sweep:
    cdef int[::1] first, after, below, tops, hidden, reach

cpdef void planes(ArcEnds arcs, const int[::1] order, int rule, int[::1] out, Sweep work) noexcept
cdef void _planes_of_one_direction(ArcEnds arcs, int s, const int[::1] order, int rule, int direction, int[::1] out,
                                   Sweep work) noexcept nogil
cdef void _set_reach(const int[::1] right, int n, int[::1] tops, int[::1] reach, int size, int plane) noexcept nogil
cdef void _put_reach(int[::1] reach, int size, int plane, int value) noexcept nogil
cpdef void cyclic(const int[::1] heads, const int[::1] dependents, const int[::1] offsets, const int[::1] words,
                  unsigned char[::1] out, int[::1] next_arc, int[::1] mark, int[::1] path) noexcept
cpdef void write_bits(const int[::1] left, const int[::1] right, const unsigned char[::1] rightward,
                      const int[::1] arc_planes, int many, const int[::1] offsets, const int[::1] words,
                      unsigned char[::1] out, int[::1] low, int[::1] high) noexcept
cpdef void read_bits(const unsigned char[::1] bits, int many, const int[::1] offsets, int[::1] heads,
                     int[::1] dependents, int[::1] arc_offsets, int[::1] fault_words, int[::1] fault_kinds,
                     int[::1] counts, int[::1] rights, int[::1] lefts) noexcept
