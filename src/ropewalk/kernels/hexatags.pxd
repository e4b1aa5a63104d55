cimport cython

cdef int CLOSES_CYCLE, FENCE_HEAD_RIGHT, FENCE_RIGHT, IMPOSSIBLE, UNMATCHED_OPENING, WORD_RIGHT

@cython.locals(last=int, right=int)
cpdef void write(const int[::1] heads, const int[::1] offsets, unsigned char[::1] codes, int[::1] low, int[::1] high,
                 int[::1] near, int[::1] far, int[::1] begin, int[::1] end) noexcept
cpdef void read(const unsigned char[::1] codes, const int[::1] offsets, int[::1] heads, int[::1] fault_words,
                int[::1] fault_kinds, int[::1] counts, int[::1] done, int[::1] spines, int[::1] places,
                int[::1] sides) noexcept
