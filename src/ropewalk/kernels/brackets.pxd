from ropewalk.kernels.values cimport ArcBuffer, ArcEnds, Findings, Spelling, SymbolBuffer

include "codes.pxi"

cdef int KINDS

cdef class PlaneStacks:
    cdef int[::1] tally, tops, positions, below

cpdef int write(ArcEnds ends, const int[::1] planes, int many, SymbolBuffer out, PlaneStacks work) noexcept
cpdef void read(Spelling spelling, int many, ArcBuffer arcs, Findings faults, PlaneStacks work) noexcept
