cimport cython

@cython.locals(count=int, mask=cython.longlong, i=cython.Py_ssize_t, j=cython.longlong, start=cython.longlong,
               other=cython.longlong, length=cython.longlong, mixed=cython.ulonglong, slot=cython.ulonglong,
               known=int)
cpdef int intern(const unsigned char[::1] raw, const long long[::1] starts, const long long[::1] stops, int[::1] ids,
                 int[::1] slots, int[::1] firsts) noexcept
