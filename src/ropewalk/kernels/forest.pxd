cdef int top(int[::1] up, int x) noexcept nogil
