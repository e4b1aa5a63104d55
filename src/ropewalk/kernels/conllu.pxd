cimport cython

include "codes.pxi"

@cython.locals(value=cython.longlong, i=cython.longlong, digit=cython.longlong)
cdef long long _number(const unsigned char[::1] raw, long long start, long long stop) noexcept nogil

cdef long long _report(long long[:, ::1] problems, long long p, int kind, long long at, long long start,
                       long long stop, long long extra) noexcept nogil

@cython.locals(size=cython.longlong, i=cython.longlong, s=cython.longlong, w=cython.longlong, p=cython.longlong,
               line=cython.longlong, multiword=int, empty=int, inside=int, last=cython.longlong, sub=cython.longlong,
               range_end=cython.longlong, range_at=cython.longlong,
               range_cut=cython.longlong, range_stop=cython.longlong, broken=int, returned=int, start=cython.longlong,
               closes=int, columns=cython.longlong, nul=cython.longlong, stop=cython.longlong,
               id_stop=cython.longlong, c=int, cut=cython.longlong, a=cython.longlong, b=cython.longlong,
               head=cython.longlong, head_start=cython.longlong, head_stop=cython.longlong, d=cython.longlong)
cpdef void scan(const unsigned char[::1] raw, long long begin, long long first_line, long long[:, ::1] fields,
                int[::1] heads, int[::1] offsets, long long[::1] sentences, long long[::1] lines,
                int[::1] multiwords, int[::1] empties, long long[:, ::1] problems, long long[::1] counts) noexcept

@cython.locals(many=int, shift=cython.longlong, i=cython.longlong, s=cython.longlong, w=cython.longlong, c=int, k=int,
               column=int, stop=cython.longlong, x=cython.longlong, length=cython.longlong, j=cython.longlong)
cpdef void splice(const unsigned char[::1] raw, const int[::1] offsets, const long long[::1] sentences,
                  const long long[:, ::1] fields, const int[::1] columns, const int[:, ::1] choices,
                  const unsigned char[::1] names, const long long[::1] marks, unsigned char[::1] out,
                  long long[::1] out_sentences, long long[:, ::1] out_fields) noexcept
