cimport cython

include "codes.pxi"

cdef double NOTHING, UNKNOWN, GROWTH, LOWEST, NEGLIGIBLE

cdef class Chart:
    cdef double[::1] roots
    cdef double[:, ::1] arcs, labels, opened, closed, ended, bare, full, plain, inner, outer
    cdef double[:, ::1] opened_rest, closed_rest, ended_rest, inner_rest, outer_rest

@cython.locals(s=int, first=int, n=int, h=int, e=int, r=int, code=int, lowest=double, scale=double, total=double,
               left=double, right=double, rest=double, share=double)
cpdef void sums(const double[:, ::1] labels, const float[::1] arcs, const int[::1] offsets,
                const long long[::1] starts, int optimal, Chart work, double[:, ::1] label_shares,
                double[::1] arc_shares, double[::1] logs) noexcept
cdef int root_label(int r, int n, int optimal) noexcept nogil
@cython.locals(scale=double, best=double, score=double, d=int, h=int, code=int, row=cython.Py_ssize_t)
cdef double weigh(const double[:, ::1] labels, const float[::1] arcs, int first, cython.Py_ssize_t base, int n,
                  Chart work) noexcept nogil
@cython.locals(width=cython.Py_ssize_t, left=cython.Py_ssize_t, right=cython.Py_ssize_t, turn=int,
               h=cython.Py_ssize_t, d=cython.Py_ssize_t, m=cython.Py_ssize_t, step=cython.Py_ssize_t,
               own=cython.Py_ssize_t, beyond=cython.Py_ssize_t, own_super=cython.Py_ssize_t,
               beyond_super=cython.Py_ssize_t, within=cython.Py_ssize_t, beneath=cython.Py_ssize_t,
               both=double, rightward=double, leftward=double, open_right=double, closed_right=double,
               open_left=double, closed_left=double, nothing=double, some=double, leaning=double, other=double,
               last=double)
cdef void inside(cython.Py_ssize_t n, int optimal, Chart work) noexcept nogil
@cython.locals(narrower=cython.Py_ssize_t, width=cython.Py_ssize_t, left=cython.Py_ssize_t, right=cython.Py_ssize_t,
               turn=int, h=cython.Py_ssize_t, d=cython.Py_ssize_t, m=cython.Py_ssize_t, step=cython.Py_ssize_t,
               own=cython.Py_ssize_t, beyond=cython.Py_ssize_t, own_super=cython.Py_ssize_t,
               beyond_super=cython.Py_ssize_t, within=cython.Py_ssize_t, beneath=cython.Py_ssize_t,
               word=cython.Py_ssize_t, in_open=double, in_closed=double, in_inner=double, in_outer=double,
               nothing=double, some=double, other=double, of_bare=double, of_full=double, of_plain=double,
               share=double)
cdef void outside(cython.Py_ssize_t n, int optimal, int first, cython.Py_ssize_t base, Chart work,
                  double[:, ::1] label_shares, double[::1] arc_shares) noexcept nogil
