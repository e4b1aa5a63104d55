from ropewalk.kernels.forest cimport top

cdef int BIT_FARTHEST, BIT_HEAD_LEFT, BIT_LEFT, BIT_RIGHT, BIT_SECOND_PLANE
cdef int CLOSES_CYCLE, SECOND_HEAD, SECOND_ROOT, UNMATCHED_CLOSING, UNMATCHED_OPENING

cpdef void write(const int[::1] heads, const int[::1] offsets, const int[::1] planes, unsigned char[::1] codes,
                 int[::1] low, int[::1] high) noexcept
cpdef void read(const unsigned char[::1] codes, const int[::1] offsets, int one_root, int[::1] heads,
                int[::1] fault_words, int[::1] fault_kinds, int[::1] counts, int[::1] lefts, int[::1] left_next,
                int[::1] rights, int[::1] right_next, int[::1] up) noexcept
