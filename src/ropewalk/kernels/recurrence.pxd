cimport cython

@cython.locals(width=cython.Py_ssize_t, k=cython.Py_ssize_t, s=int, t=int)
cpdef void gather(const float[:, ::1] table, const int[::1] rows, const int[::1] offsets,
                  float[:, ::1] vectors) noexcept

@cython.locals(width=int, half=int, s=int, t=int, before=int)
cpdef void read(const float[:, ::1] gates, const float[:, ::1] inputs, const int[::1] offsets, float[:, ::1] states,
                float[:, ::1] vectors) noexcept
@cython.locals(width=cython.Py_ssize_t, k=cython.Py_ssize_t, z=float, x=float)
cdef void step(const float[:, ::1] gates, const float[:, ::1] inputs, Py_ssize_t before, Py_ssize_t t, Py_ssize_t low,
               Py_ssize_t high, float[:, ::1] states, float[:, ::1] vectors) noexcept nogil

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
