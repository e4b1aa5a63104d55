cimport cython

from ropewalk.kernels.values cimport Findings, Workspace

cdef int CLOSES_CYCLE, FENCE_HEAD_RIGHT, FENCE_RIGHT, IMPOSSIBLE, UNMATCHED_OPENING, WORD_RIGHT

@cython.locals(last=int, right=int)
cpdef void write(const int[::1] heads, const int[::1] offsets, unsigned char[::1] codes, Workspace work) noexcept
cpdef void read(const unsigned char[::1] codes, const int[::1] offsets, int[::1] heads, Findings faults,
                Workspace work) noexcept
