cimport cython

from ropewalk.kernels.chart cimport root_label

include "codes.pxi"

cdef double NOTHING, NEGLIGIBLE

cdef class LogChart:
    cdef double[:, :, ::1] halves, spans, half_shares, span_shares

@cython.locals(s=int, first=int, n=int, base=cython.Py_ssize_t, c=cython.Py_ssize_t, row=int, h=int, e=int, x=int,
               width=int, left=int, right=int, r=int, m=int, code=int, inner=int, top=double, total=double, gain=double,
               share=double)
cpdef void sums(const double[:, ::1] labels, const double[::1] arcs, const int[::1] offsets,
                const long long[::1] starts, int optimal, LogChart work, double[:, ::1] label_shares,
                double[::1] arc_shares, double[::1] logs) noexcept
@cython.locals(step=int, x=int, k=int, top=double, total=double, gain=double)
cdef void join(double[:, :, ::1] halves, double[:, :, ::1] spans, int optimal, int h, int d,
               double score) noexcept nogil
@cython.locals(step=int, outer=int, own=int, plain=int, within=int, c=int, d=int, code=int, top=double, total=double,
               base=double, gain=double)
cdef void close(double[:, :, ::1] halves, double[:, :, ::1] spans, const double[:, ::1] labels, int optimal, int first,
                int h, int e) noexcept nogil
@cython.locals(step=int, outer=int, own=int, plain=int, c=int, d=int, x=int, place=int, code=int, share=double,
               base=double, gain=double)
cdef void divide(double[:, :, ::1] halves, double[:, :, ::1] spans, double[:, :, ::1] half_shares,
                 double[:, :, ::1] span_shares, const double[:, ::1] labels, double[:, ::1] label_shares, int optimal,
                 int first, int h, int e) noexcept nogil
@cython.locals(step=int, x=int, k=int, share=double, whole=double, gain=double)
cdef double part(double[:, :, ::1] halves, double[:, :, ::1] spans, double[:, :, ::1] half_shares,
                 double[:, :, ::1] span_shares, int optimal, int h, int d, double score) noexcept nogil
