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

cdef int NODES, ARCS, PROBLEMS

@cython.locals(s=cython.longlong, words=cython.longlong, k=int)
cpdef void scan(const unsigned char[::1] raw, const long long[::1] sentences, NodeBuffer nodes, ArcBuffer found,
                DepsBuffer out) noexcept

@cython.locals(wrong=cython.longlong)
cdef void _report(DepsBuffer out, int code, long long line, long long start, long long stop) noexcept nogil

@cython.locals(n=cython.longlong, first=cython.longlong, words=cython.longlong, start=cython.longlong, column=int,
               form=cython.longlong, form_stop=cython.longlong, deps=cython.longlong, deps_stop=cython.longlong,
               minor=cython.longlong, kind=int, j=cython.longlong)
cdef long long _scan_nodes(const unsigned char[::1] raw, long long i, long long end, NodeBuffer nodes,
                           DepsBuffer out) noexcept nogil

@cython.locals(arcs=cython.longlong, node=cython.longlong, j=cython.longlong, stop=cython.longlong,
               item=cython.longlong, major=cython.longlong, minor=cython.longlong, digits=cython.longlong, dotted=int,
               bad=int, relation=cython.longlong, code=int, head=cython.longlong)
cdef void _scan_items(const unsigned char[::1] raw, long long first, long long words, NodeBuffer nodes, ArcBuffer found,
                      DepsBuffer out) noexcept nogil
