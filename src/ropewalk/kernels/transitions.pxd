cimport cython

from ropewalk.kernels.values cimport ArcBuffer, Findings, Spelling, SymbolBuffer, Workspace

include "codes.pxi"

cpdef int write(int system, const int[::1] heads, const int[::1] offsets, SymbolBuffer out, Workspace work) noexcept
@cython.locals(possible=int)
cpdef void read(int system, Spelling spelling, int[::1] heads, Findings faults, Workspace work) noexcept
cpdef int write_covington(const int[::1] heads, const int[::1] offsets, SymbolBuffer out, Workspace work) noexcept
cpdef void read_covington(Spelling spelling, ArcBuffer arcs, Findings faults) noexcept
