cimport cython

from ropewalk.kernels.automaton cimport Transitions

cdef double NOTHING
cdef int CODES

cdef class Beam:
    cdef int width
    cdef double[:, ::1] after
    cdef double[::1] later, likely, values, hopes, gains, kept_gains
    cdef int[::1] states, chain, codes, froms, ways, heap
    cdef int[:, ::1] parents, taken
    cdef int[:, :, ::1] openers, waiting

@cython.locals(gain=double, hope=double, top=double, dropped=double, base=cython.longlong, own=cython.longlong, link=int, word=int, q=int, t=int,
               i=int, b=int, c=int, x=int, p=int, m=int, h=int, s=int, same=int, code=int, kept=int, found=int, layer=int, other=int,
               count=int, size=int, n=int, first=int, row=int, width=int)
cpdef void search(Transitions automaton, const double[:, ::1] scores, const double[:, ::1] ties,
                  const int[::1] offsets, const float[::1] arcs, const long long[::1] starts, const int[::1] sides,
                  const double[::1] floors, Beam work, int[::1] best, double[::1] totals, double[::1] bounds) noexcept

@cython.locals(x=int, m=int)
cdef void heapify(int[::1] heap, const double[::1] keys, int size) noexcept nogil

@cython.locals(key=double, moved=int, below=int)
cdef void sink(int[::1] heap, const double[::1] keys, int at, int size) noexcept nogil
