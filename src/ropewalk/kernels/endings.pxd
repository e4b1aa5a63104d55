cimport cython

@cython.locals(most=cython.Py_ssize_t, row=cython.Py_ssize_t, size=cython.Py_ssize_t, low=cython.Py_ssize_t,
               high=cython.Py_ssize_t, depth=cython.Py_ssize_t, wanted=int, first=cython.Py_ssize_t,
               last=cython.Py_ssize_t, middle=cython.Py_ssize_t, at=cython.Py_ssize_t)
cpdef void find(const int[::1] characters, const int[::1] offsets, const int[::1] asked, const int[::1] positions,
                int[:, :, ::1] ends) noexcept
@cython.locals(row=cython.Py_ssize_t, size=cython.Py_ssize_t, first=cython.Py_ssize_t, last=cython.Py_ssize_t,
               middle=cython.Py_ssize_t, begin=cython.Py_ssize_t, length=cython.Py_ssize_t, depth=cython.Py_ssize_t)
cpdef void places(const int[::1] characters, const int[::1] offsets, const int[::1] asked, const int[::1] positions,
                  int[::1] out) noexcept
@cython.locals(row=cython.Py_ssize_t, depth=cython.Py_ssize_t, first=cython.Py_ssize_t, last=cython.Py_ssize_t,
               left=double, weight=double, position=cython.Py_ssize_t)
cpdef void guess(const int[:, :, ::1] ends, const int[::1] starts, const int[::1] classes, float[:, ::1] out) noexcept
@cython.locals(row=cython.Py_ssize_t, position=cython.Py_ssize_t)
cpdef void add(const int[::1] positions, const int[::1] starts, const int[::1] classes, const float[::1] evidence,
               float[:, ::1] scores) noexcept
@cython.locals(row=cython.Py_ssize_t, number=cython.Py_ssize_t, column=cython.Py_ssize_t)
cpdef void add_rows(const int[::1] numbers, const float[:, ::1] rows, float[:, ::1] scores) noexcept
