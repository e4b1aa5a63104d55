cdef class ArcEnds:
    cdef const int[::1] left, right, offsets, words
    cdef const unsigned char[::1] rightward

cdef class Workspace:
    cdef int[::1] node1, node2, arc1, arc2, arc3
