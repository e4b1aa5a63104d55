include "codes.pxi"

cdef int FEW

cdef class Dependents:
    cdef int[::1] first, after, queue

cdef class Crossed:
    cdef int most
    cdef int[::1] first, after, order, crossing, plane, begins, ends

cdef class LiftMarks:
    cdef int[::1] relations
    cdef const int[::1] plain, parts, part_starts
    cdef const unsigned char[::1] down
    cdef int along_path, nearest

cpdef void check(const int[::1] heads, const int[::1] offsets, int[::1] codes, int[::1] words, int[::1] roots,
                 int[::1] mark) noexcept
cpdef void projective(const int[::1] heads, const int[::1] offsets, unsigned char[::1] out, Dependents work) noexcept
cdef int _projective(const int[::1] heads, int start, int n, Dependents work) noexcept nogil
cdef void _breadth_first(const int[::1] heads, int start, int[::1] marked, int many, int turn,
                         Crossed work) noexcept nogil
cdef void _move(int[::1] heads, int start, int d, Crossed work) noexcept nogil
cdef int _mark_newly_crossed(const int[::1] heads, int start, int arc, int many, Crossed work) noexcept nogil
cdef int _crosses(const int[::1] heads, int start, int a, int b) noexcept nogil
cdef int _mark_crossed(const int[::1] heads, int start, int n, int[::1] planes, Crossed work) noexcept nogil
cdef int _assign_planes(const int[::1] heads, int start, int[::1] planes, int many, Crossed work) noexcept nogil
cdef void _assign_many_planes(const int[::1] heads, int start, int n, int[::1] planes, int many, int most,
                              Crossed work) noexcept nogil
cpdef void planes(const int[::1] heads, const int[::1] offsets, int most, int[::1] out, Crossed work) noexcept
cpdef void gap_degrees(const int[::1] heads, const int[::1] offsets, int[::1] out, Dependents work) noexcept
cpdef int lift(int[::1] heads, const int[::1] offsets, const int[::1] chosen, int planes, int steps, int[::1] lifted,
               int[::1] left, Crossed work) noexcept
cpdef void lower(int[::1] heads, const int[::1] offsets, const int[::1] chosen, LiftMarks marks, Dependents work) noexcept
cdef void _link_dependents(const int[::1] heads, int start, int n, int d, int nearest, int[::1] first,
                           int[::1] after) noexcept nogil
cdef void _link(const int[::1] heads, int start, int x, int[::1] first, int[::1] after) noexcept nogil
cdef int _target(const int[::1] heads, int start, int d, int wanted, LiftMarks marks, Dependents work) noexcept nogil
cpdef void stackable(const int[::1] heads, const int[::1] offsets, const int[::1] planes, int many,
                     unsigned char[::1] out, Dependents work) noexcept
