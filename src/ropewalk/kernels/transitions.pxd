cimport cython

cdef int ARC_EAGER, ARC_HYBRID, ARC_STANDARD, IMPOSSIBLE, LEFT_ARC, NO_ARC, REDUCE, RIGHT_ARC, SHIFT, TIMES

cpdef int write(int system, const int[::1] heads, const int[::1] offsets, int[::1] symbols, int[::1] starts,
                int[::1] low, int[::1] high, int[::1] pending, int[::1] stack) noexcept
@cython.locals(possible=int)
cpdef void read(int system, const int[::1] labels, const int[::1] offsets, const int[::1] symbols,
                const int[::1] starts, int[::1] heads, int[::1] fault_words, int[::1] fault_kinds,
                int[::1] counts, int[::1] stack) noexcept
cpdef int write_covington(const int[::1] heads, const int[::1] offsets, int[::1] symbols, int[::1] starts,
                          int[::1] first, int[::1] after) noexcept
cpdef void read_covington(const int[::1] labels, const int[::1] offsets, const int[::1] symbols,
                          const int[::1] starts, int[::1] heads, int[::1] dependents, int[::1] arc_offsets,
                          int[::1] fault_words, int[::1] fault_kinds, int[::1] counts) noexcept
