cimport cython

from ropewalk.kernels.automaton cimport Transitions

include "codes.pxi"

cdef double NOTHING
cdef int CODES

cdef class BeamSearch:
    cdef const double[:, ::1] scores, root_scores
    cdef const int[::1] offsets
    cdef const float[::1] arcs
    cdef const long long[::1] starts
    cdef const double[::1] lower_bounds
    cdef int[::1] best
    cdef double[::1] totals, bounds
    cdef int begin(self, int s) noexcept nogil

cdef class Beam:
    cdef int width
    cdef double[:, ::1] after
    cdef double[::1] later, likely, values, upper_bounds, candidate_scores, kept_scores
    cdef int[::1] states, chain, codes, sources, transitions, heap
    cdef int[:, ::1] parents, taken
    cdef int[:, :, ::1] openers, waiting

@cython.locals(score=double, upper_bound=double, top=double, dropped=double, base=cython.longlong, own=cython.longlong, link=int, word=int, q=int, t=int,
               i=int, b=int, c=int, x=int, p=int, m=int, h=int, s=int, same=int, code=int, kept=int, candidates=int, layer=int, other=int,
               count=int, size=int, n=int, first=int, row=int, width=int)
cpdef void search(Transitions automaton, const int[::1] sides, BeamSearch task, Beam work) noexcept

@cython.locals(x=int, m=int)
cdef void heapify(int[::1] heap, const double[::1] keys, int size) noexcept nogil

@cython.locals(key=double, moved=int, below=int)
cdef void sink(int[::1] heap, const double[::1] keys, int at, int size) noexcept nogil
