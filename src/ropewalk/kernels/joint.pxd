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

@cython.locals(dropped=double, t=int, i=int, b=int, c=int, x=int, m=int, p=int, s=int, kept=int, candidates=int,
               layer=int, count=int, n=int, first=int)
cpdef void search(Transitions automaton, const int[::1] sides, BeamSearch task, Beam work) noexcept

@cython.locals(score=double, top=double, base=cython.longlong, own=cython.longlong, q=int, t=int, i=int, c=int, m=int,
               h=int, first=int)
cdef void _look_back(Transitions automaton, const int[::1] sides, BeamSearch task, Beam work, int s,
                     int n) noexcept nogil

@cython.locals(score=double, upper_bound=double, base=cython.longlong, own=cython.longlong, link=int, word=int, q=int,
               t=int, b=int, c=int, w=int, row=int, candidates=int)
cdef int _extend(Transitions automaton, BeamSearch task, Beam work, int s, int n, int i, int layer,
                 int count) noexcept nogil

@cython.locals(link=int, x=int, p=int, other=int)
cdef void _read(Transitions automaton, Beam work, int t, int i, int source, int layer, int kept) noexcept nogil

@cython.locals(link=int, word=int, code=int, x=int, p=int, same=int)
cdef int _is_new(Transitions automaton, Beam work, int t, int i, int layer, int kept) noexcept nogil

@cython.locals(x=int, m=int)
cdef void heapify(int[::1] heap, const double[::1] keys, int size) noexcept nogil

@cython.locals(key=double, moved=int, below=int)
cdef void sink(int[::1] heap, const double[::1] keys, int at, int size) noexcept nogil
