cpdef void spanning(double[:, ::1] scores, int[::1] heads, int[:, ::1] enters, double[::1] best, int[::1] sources,
                    int[::1] targets, int[::1] parents, int[::1] rows, int[::1] members, int[::1] path,
                    int[::1] state) noexcept
