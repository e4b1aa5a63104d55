cimport cython

from ropewalk.kernels.values cimport Findings, Workspace

include "codes.pxi"

@cython.locals(last=int, right=int)
cpdef void write(const int[::1] heads, const int[::1] offsets, unsigned char[::1] codes, Workspace work) noexcept
cpdef void read(const unsigned char[::1] codes, const int[::1] offsets, int[::1] heads, Findings faults,
                Workspace work) noexcept
