cdef int CLOSING, INDEX, RIGHTWARD, UNMATCHED_CLOSING, UNMATCHED_OPENING

cpdef int write(const int[::1] left, const int[::1] right, const unsigned char[::1] rightward,
                const int[::1] planes, int many, const int[::1] offsets, const int[::1] words, int[::1] symbols,
                int[::1] starts, int[::1] tally) noexcept
cpdef void read(const int[::1] labels, const int[::1] offsets, const int[::1] symbols, const int[::1] starts, int many,
                int[::1] heads, int[::1] dependents, int[::1] arc_offsets, int[::1] fault_words,
                int[::1] fault_kinds, int[::1] counts, int[::1] tops, int[::1] places, int[::1] below) noexcept
