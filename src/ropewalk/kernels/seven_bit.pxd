from ropewalk.kernels.forest cimport attach, clear
from ropewalk.kernels.values cimport Findings, Workspace

include "codes.pxi"

cpdef void write(const int[::1] heads, const int[::1] offsets, const int[::1] planes, unsigned char[::1] codes,
                 Workspace work) noexcept
cpdef void read(const unsigned char[::1] codes, const int[::1] offsets, int one_root, int[::1] heads, Findings faults,
                Workspace work) noexcept
