cimport cython

@cython.locals(word=cython.Py_ssize_t, row=cython.Py_ssize_t, combination=cython.Py_ssize_t, part=cython.Py_ssize_t,
               highest=float, summed=float, chosen=int)
cpdef void best(const float[:, ::1] scores, const int[:, ::1] positions, const float[:, ::1] evidence,
                const int[::1] rows, int[::1] out) noexcept
