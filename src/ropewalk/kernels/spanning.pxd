cimport cython

cdef class SpanningParts:
    cdef double[:, ::1] scores
    cdef int[:, ::1] enters
    cdef double[::1] best
    cdef int[::1] sources, targets, parents, rows, members, path, state

@cython.locals(s=int, first=int, n=int, d=int, h=int, place=cython.Py_ssize_t, low=double, high=double, gain=double,
               toll=double)
cpdef void spanning_trees(const double[::1] gains, const int[::1] offsets, const long long[::1] starts,
                          int[::1] heads, SpanningParts work) noexcept
@cython.locals(parts=int, v=int, first=int, part=int, size=int, row=int, chosen=int, u=int, above=int, into=int,
               place=int, word=int, inner=int, gain=double)
cdef void spanning(int[::1] heads, int first_word, int n, SpanningParts work) noexcept nogil
