from ropewalk.kernels.values cimport ArcBuffer

cdef class Tagged:
    cdef const int[::1] tags, offsets
    cdef int count
    cdef int[::1] rank, listed, seen, begin

cpdef void write(const int[::1] heads, Tagged words, int[::1] out) noexcept
cpdef void read(const int[::1] steps, const int[::1] wanted, Tagged words, ArcBuffer arcs) noexcept
