cimport cython

from ropewalk.kernels.values cimport ArcBuffer

include "codes.pxi"

cdef class NodeBuffer:
    cdef long long[:, ::1] fields
    cdef int[::1] minors, offsets

cdef class DepsBuffer:
    cdef long long[:, ::1] relations, problems
    cdef long long[::1] counts
    cdef int[::1] positions, after

@cython.locals(n=cython.longlong, arcs=cython.longlong, wrong=cython.longlong, s=cython.longlong, i=cython.longlong,
               end=cython.longlong, first=cython.longlong, words=cython.longlong, start=cython.longlong, column=int,
               form=cython.longlong, form_stop=cython.longlong, deps=cython.longlong, deps_stop=cython.longlong,
               major=cython.longlong, minor=cython.longlong, kind=int, j=cython.longlong, node=cython.longlong,
               stop=cython.longlong, item=cython.longlong, digits=cython.longlong, dotted=int, bad=int,
               relation=cython.longlong, code=int, head=cython.longlong)
cpdef void scan(const unsigned char[::1] raw, const long long[::1] sentences, NodeBuffer nodes, ArcBuffer found,
                DepsBuffer out) noexcept
