cimport cython

include "codes.pxi"

@cython.locals(n=cython.longlong, arcs=cython.longlong, wrong=cython.longlong, s=cython.longlong, i=cython.longlong,
               end=cython.longlong, first=cython.longlong, words=cython.longlong, start=cython.longlong, column=int,
               form=cython.longlong, form_stop=cython.longlong, deps=cython.longlong, deps_stop=cython.longlong,
               major=cython.longlong, minor=cython.longlong, kind=int, j=cython.longlong, node=cython.longlong,
               stop=cython.longlong, item=cython.longlong, digits=cython.longlong, dotted=int, bad=int,
               relation=cython.longlong, code=int, head=cython.longlong)
cpdef void scan(const unsigned char[::1] raw, const long long[::1] sentences, long long[:, ::1] fields,
                int[::1] minors, int[::1] offsets, int[::1] heads, int[::1] dependents,
                long long[:, ::1] relations, int[::1] arc_offsets, long long[:, ::1] problems,
                long long[::1] counts, int[::1] positions, int[::1] after) noexcept
