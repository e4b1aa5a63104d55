from ropewalk.kernels.values cimport ArcEnds, Workspace

include "codes.pxi"

cdef class Sweep:
    cdef int[::1] first, after, below, tops, hidden, reach

cpdef void planes(ArcEnds arcs, const int[::1] order, int rule, int[::1] out, Sweep work) noexcept
cdef void _planes_of_one_direction(ArcEnds arcs, int s, const int[::1] order, int rule, int direction, int[::1] out,
                                   Sweep work) noexcept nogil
cdef void _set_reach(const int[::1] right, int n, int[::1] tops, int[::1] reach, int size, int plane) noexcept nogil
cdef void _put_reach(int[::1] reach, int size, int plane, int value) noexcept nogil
cpdef void cyclic(const int[::1] heads, const int[::1] dependents, const int[::1] offsets, const int[::1] words,
                  unsigned char[::1] out, Workspace work) noexcept
