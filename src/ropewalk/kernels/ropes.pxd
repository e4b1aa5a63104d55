from ropewalk.kernels.forest cimport top

cdef int CLOSES_CYCLE, CLOSING, INDEX, LEANS_LEFT, LEANS_NOWHERE, LEANS_RIGHT, OUTSIDE, RIGHTWARD, SECOND_HEAD
cdef int STRUCTURAL, SUPER, UNMATCHED_CLOSING, UNMATCHED_OPENING

cpdef void order(const int[::1] left, const int[::1] right, const unsigned char[::1] rightward, const int[::1] offsets,
                 const int[::1] words, int[::1] out, int[::1] by_right, int[::1] by_left, int[::1] after_right,
                 int[::1] after_left) noexcept
cpdef void proper(const int[::1] left, const int[::1] right, const int[::1] offsets, const int[::1] words,
                  const int[::1] arcs, unsigned char[::1] structural, int[::1] opened, int[::1] closed) noexcept
cpdef void farthest(const int[::1] left, const int[::1] right, const unsigned char[::1] rightward,
                    const int[::1] offsets, const int[::1] words, unsigned char[::1] structural, int[::1] low,
                    int[::1] high) noexcept
cpdef void lean(const int[::1] left, const int[::1] right, const int[::1] offsets, const int[::1] words,
                const int[::1] arcs, const unsigned char[::1] structural, int[::1] rope, unsigned char[::1] side,
                int[::1] by_left, int[::1] by_right) noexcept
cpdef void thickness(const int[::1] left, const int[::1] right, const int[::1] offsets, const int[::1] words,
                     const unsigned char[::1] structural, int[::1] out, int[::1] change) noexcept
cpdef int brackets(const int[::1] left, const int[::1] right, const unsigned char[::1] rightward,
                   const int[::1] offsets, const int[::1] words, const int[::1] arcs, const unsigned char[::1] side,
                   int[::1] symbols, int[::1] starts, int[::1] by_right, int[::1] after, int[::1] ropes,
                   int[::1] lowest) noexcept
cpdef void match(const int[::1] labels, const int[::1] offsets, const int[::1] symbols, const int[::1] starts,
                 int keep_root, int trees, int[::1] heads, int[::1] dependents, int[::1] arc_offsets,
                 int[::1] fault_words, int[::1] fault_kinds, int[::1] counts, int[::1] kinds, int[::1] places,
                 int[::1] headed, int[::1] up) noexcept
cdef int _fault(int h, int d, int[::1] headed, int[::1] up) noexcept nogil
