cpdef void write(const int[::1] heads, const int[::1] offsets, const int[::1] tags, int[::1] out, int[::1] rank,
                 int[::1] seen) noexcept
cpdef void read(const int[::1] steps, const int[::1] wanted, const int[::1] offsets, const int[::1] tags, int root,
                int[::1] heads, int[::1] dependents, int[::1] begin, int[::1] listed, int[::1] seen) noexcept
