from ropewalk.kernels.forest cimport top

cdef int CLOSES_CYCLE, CLOSES_LEFT, HEAD_LEFT, INCOMING_SUPER, LEANS_LEFT, OPENS_RIGHT, SECOND_ROOT
cdef int STRUCTURAL, SWAPPED, UNMATCHED_CLOSING, UNMATCHED_OPENING

cpdef void write(const int[::1] heads, const int[::1] offsets, const unsigned char[::1] structural,
                 unsigned char[::1] codes) noexcept
cpdef void write_published(const int[::1] heads, const int[::1] offsets, const unsigned char[::1] side,
                           unsigned char[::1] codes, int[::1] closes, int[::1] opens) noexcept
cpdef void read(const unsigned char[::1] codes, const int[::1] offsets, int one_root, int peek, int[::1] heads,
                int[::1] fault_words, int[::1] fault_kinds, int[::1] counts, int[::1] places, int[::1] kinds,
                int[::1] up) noexcept
cdef int _fault(int h, int d, int rooted, int[::1] up) noexcept nogil
