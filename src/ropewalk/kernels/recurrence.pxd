cimport cython

@cython.locals(width=int, half=int, s=int, t=int, before=int)
cpdef void read(const float[:, ::1] gates, const float[:, ::1] inputs, const int[::1] rows, const int[::1] offsets,
                int first, float[:, ::1] states, float[:, ::1] vectors) noexcept
@cython.locals(width=cython.Py_ssize_t, forget=cython.Py_ssize_t, keep=cython.Py_ssize_t, k=cython.Py_ssize_t, z=float,
               x=float)
cdef void step(const float[:, ::1] gates, const float[:, ::1] inputs, Py_ssize_t row, Py_ssize_t first,
               Py_ssize_t before, Py_ssize_t t, Py_ssize_t low, Py_ssize_t high, float[:, ::1] states,
               float[:, ::1] vectors) noexcept nogil

cdef class Gradients:
    cdef const float[:, ::1] vectors
    cdef float[:, ::1] gates, inputs
    cdef float[::1] carried

@cython.locals(width=int, half=int, s=int, t=int, k=int, before=int)
cpdef void differentiate(const float[:, ::1] gates, const float[:, ::1] inputs, const int[::1] offsets,
                         const float[:, ::1] states, Gradients gradients) noexcept
@cython.locals(width=cython.Py_ssize_t, k=cython.Py_ssize_t, z=float, f=float, r=float, up=float, through=float)
cdef void step_back(const float[:, ::1] gates, const float[:, ::1] inputs, const float[:, ::1] states,
                    Py_ssize_t before, Py_ssize_t t, Py_ssize_t low, Py_ssize_t high,
                    Gradients gradients) noexcept nogil
