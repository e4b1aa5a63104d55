cimport cython

include "codes.pxi"

cdef class ScanBuffer:
    cdef long long[:, ::1] fields
    cdef int[::1] heads, offsets
    cdef long long[::1] sentences, lines
    cdef int[::1] multiwords, empties
    cdef long long[:, ::1] problems
    cdef long long[::1] counts

cdef class WrittenWords:
    cdef const int[::1] offsets
    cdef const long long[::1] sentences
    cdef const long long[:, ::1] fields

cdef class Replacements:
    cdef const int[::1] columns
    cdef const int[:, ::1] choices
    cdef const unsigned char[::1] names
    cdef const long long[::1] marks

cdef class CopyBuffer:
    cdef long long[::1] sentences
    cdef long long[:, ::1] fields

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
cpdef void scan(const unsigned char[::1] raw, long long begin, long long first_line, ScanBuffer out) noexcept

@cython.locals(many=int, shift=cython.longlong, i=cython.longlong, s=cython.longlong, w=cython.longlong, c=int, k=int,
               column=int, stop=cython.longlong, x=cython.longlong, first=cython.longlong, length=cython.longlong,
               j=cython.longlong)
cpdef void splice(const unsigned char[::1] raw, WrittenWords text, Replacements edits, unsigned char[::1] out,
                  CopyBuffer copied) noexcept
