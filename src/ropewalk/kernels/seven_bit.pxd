from ropewalk.kernels.forest cimport attach, clear
from ropewalk.kernels.values cimport Findings, Workspace

cdef int BIT_FARTHEST, BIT_HEAD_LEFT, BIT_LEFT, BIT_RIGHT, BIT_SECOND_PLANE
cdef int SECOND_ROOT, UNMATCHED_CLOSING, UNMATCHED_OPENING

cpdef void write(const int[::1] heads, const int[::1] offsets, const int[::1] planes, unsigned char[::1] codes,
                 Workspace work) noexcept
cpdef void read(const unsigned char[::1] codes, const int[::1] offsets, int one_root, int[::1] heads, Findings faults,
                Workspace work) noexcept
