cimport cython

@cython.locals(most=cython.Py_ssize_t, row=cython.Py_ssize_t, size=cython.Py_ssize_t, low=cython.Py_ssize_t,
               high=cython.Py_ssize_t, depth=cython.Py_ssize_t, wanted=int, first=cython.Py_ssize_t,
               last=cython.Py_ssize_t, middle=cython.Py_ssize_t, at=cython.Py_ssize_t, left=double, share=double,
               place=cython.Py_ssize_t)
cpdef void guess(const int[::1] characters, const int[::1] offsets, const int[::1] starts, const int[::1] classes,
                 const int[::1] asked, const int[::1] places, int[:, ::1] ends, float[:, ::1] out) noexcept
