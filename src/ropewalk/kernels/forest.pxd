include "codes.pxi"

cdef int top(int[::1] up, int x) noexcept nogil
cdef void clear(int[::1] up, int[::1] heads, int start, int n) noexcept nogil
cdef int attach(int[::1] up, int h, int d) noexcept nogil
