from ropewalk.kernels.forest cimport top

cdef int ATTACHED, CLOSES_CYCLE, OUTSIDE, REROOTED, SECOND_HEAD

cpdef void settle(const int[::1] arc_heads, const int[::1] arc_dependents, const int[::1] arc_offsets,
                  const int[::1] offsets, int[::1] heads, int[::1] fault_words, int[::1] fault_kinds,
                  int[::1] counts, int[::1] up) noexcept
cpdef int nearest(int[::1] heads, const int[::1] offsets, int keep_roots, int[::1] repair_words,
                  int[::1] repair_kinds, int[::1] up) noexcept
cpdef int root(int[::1] heads, const int[::1] offsets, int keep_roots, int[::1] repair_words,
               int[::1] repair_kinds, int[::1] up) noexcept
cdef int _sound(int[::1] heads, int start, int n, int keep_roots, int[::1] repair_words, int[::1] repair_kinds,
                int repairs, int[::1] up) noexcept nogil
