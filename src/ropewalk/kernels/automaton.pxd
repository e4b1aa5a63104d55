cimport cython

include "codes.pxi"

cdef double NEGLIGIBLE, NOTHING

cdef class Transitions:
    cdef const int[::1] begins, labels, sources, targets, roots
    cdef const int[:, ::1] marks
    cdef const int[::1] finals, distances
    cdef int heights

cdef class BestPath:
    cdef double[::1] now, soon, label_scores
    cdef int[:, ::1] back

cdef class ForwardBackward:
    cdef readonly double[:, ::1] alpha
    cdef double[:, ::1] beta

cdef class BestPaths:
    cdef double[:, :, ::1] value
    cdef int[:, :, ::1] via, rank

cdef class Tracks:
    cdef double[:, :, ::1] track, ahead
    cdef int[:, ::1] alive
    cdef int[::1] living

@cython.locals(value=double, score=double, total=double, end=int, low=int, high=int, middle=int, target=int, t=int)
cpdef void viterbi(Transitions automaton, const double[:, ::1] scores, const double[:, ::1] root_scores,
                   const int[::1] offsets, BestPath work, int[::1] best, double[::1] totals) noexcept
@cython.locals(value=double, total=double, ends=double)
cpdef double forward(Transitions automaton, const double[:, ::1] weights, const double[:, ::1] root_scores, int n,
                     ForwardBackward work, double[::1] scales) noexcept nogil
@cython.locals(value=double, i=int)
cdef void backward(Transitions automaton, const double[:, ::1] weights, const double[:, ::1] root_scores, int n,
                   ForwardBackward work, double[::1] scales) noexcept nogil
@cython.locals(mass=double, factor=double, value=double, part=double)
cpdef void sums(Transitions automaton, const double[:, ::1] weights, const double[:, ::1] root_scores,
                const int[::1] offsets, ForwardBackward work, double[::1] accepted, double[::1] scales,
                double[:, ::1] marginals, double[::1] rooted) noexcept
@cython.locals(left=double, part=double, chosen=int, q=int, drawn=int)
cpdef int draw(Transitions automaton, const double[:, ::1] weights, const double[:, ::1] root_scores, int n,
               ForwardBackward work, double[::1] scales, const double[:, ::1] dice, int[:, ::1] out) noexcept
@cython.locals(have=double, score=double, total=double, q=int, j=int, end=int, place=int, t=int, i=int, count=int, target=int)
cpdef int k_best(Transitions automaton, const double[:, ::1] scores, const double[:, ::1] root_scores, int n, int k,
                 BestPaths work, int[:, ::1] out, double[::1] totals) noexcept
@cython.locals(mass=double, value=double, part=double, right=double, left=double, closed=int, count=int, q=int, target=int)
cpdef int arcs(Transitions automaton, const double[:, ::1] weights, const double[:, ::1] root_scores, int n,
               const int[::1] reach, const int[::1] heads, ForwardBackward sums_work, Tracks work, double[::1] scales,
               double[::1] chosen, double[:, ::1] matrix) noexcept
