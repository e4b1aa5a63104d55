cimport cython

from ropewalk.kernels.joint cimport BeamSearch, heapify, sink

include "codes.pxi"

cdef double NOTHING
cdef int GONE, PRIME, MASK, SIGN

cdef class StackProgram:
    cdef const int[::1] begins, symbols, homes, planes, sides, caps, radices, classes, transitions, targets, moves

cdef class StackBeam:
    cdef int width, capacity, counters, top, promised, rooted, word, many
    cdef int row, jointly
    cdef long long base
    cdef double arc_scores
    cdef const float[::1] arcs
    cdef double[:, ::1] after
    cdef double[::1] later, likely, chances, coming, values, upper_bounds
    cdef int[::1] states, counts, heights, kinds, homes, words, tops, crossed, partners, partner_crossed, partner_homes
    cdef int[::1] lengths, sums, mentions, numbers
    cdef int[::1] sources, labels, tried, heap
    cdef int[:, ::1] signs, parents, taken

@cython.locals(score=double, upper_bound=double, dropped=double, i=int, b=int, c=int, x=int, m=int, s=int,
               label=int, slot=int, fits=int, kept=int, candidates=int, layer=int, other=int, count=int, n=int, first=int,
               many=int, width=int)
cpdef void search(StackProgram brackets, BeamSearch task, StackBeam work) noexcept

@cython.locals(before=double, behind=double, own=cython.longlong, h=int, label=int, side=int)
cdef void _weigh(StackProgram brackets, StackBeam work, const double[:, ::1] scores, int first, int i) noexcept nogil

@cython.locals(most=double, score=double, c=int, k=int, q=int, i=int, m=int, label=int, states=int)
cdef void _look_back(StackProgram brackets, StackBeam work, const double[:, ::1] scores, const double[:, ::1] root_scores,
                     int first, int n) noexcept nogil

@cython.locals(score=double, c=int, k=int)
cdef void _look_ahead(StackProgram brackets, StackBeam work, const double[:, ::1] root_scores, int w, int i, int q) noexcept nogil

@cython.locals(c=int)
cdef void _begin(StackProgram brackets, StackBeam work) noexcept nogil

@cython.locals(q=int, c=int)
cdef int _state(StackProgram brackets, StackBeam work, int slot) noexcept nogil

@cython.locals(low=int, old=int, high=int, p=int, c=int, k=int, counts=int, ropes=int, nearest=int, last=int, m=int,
               symbol=int, home=int)
cdef int _read(StackProgram brackets, StackBeam work, int label, int x, int source, int slot) noexcept nogil

@cython.locals(skip=int, own=int, p=int, o=int, kind=int, word=int, others=int, kept=int)
cdef int _close(StackBeam work, int counts, int low, int high, int home, int symbol, int x) noexcept nogil

@cython.locals(skip=int, p=int, o=int, word=int)
cdef int _lean(StackBeam work, int low, int high, int home, int symbol, int x) noexcept nogil

@cython.locals(word=int, dependent=int, o=int)
cdef int _make(StackBeam work, int low, int high, int p, int rightward, int x) noexcept nogil

@cython.locals(low=int, high=int, size=int, known=int, total=int, p=int, c=int, word=int, top=int)
cdef void _sign(StackProgram brackets, StackBeam work, int slot) noexcept nogil

@cython.locals(b=int, c=int, same=int)
cdef int _is_new(StackBeam work, int first, int slot) noexcept nogil

@cython.locals(o=int)
cdef int _is_last(StackBeam work, int p, int high) noexcept nogil

@cython.locals(o=int, plane=int, crossed=int, other=int)
cdef int _cross(StackProgram brackets, StackBeam work, int low, int high, int m, int x) noexcept nogil

cdef int _goes_along(StackProgram brackets, StackBeam work, int low, int p) noexcept nogil
