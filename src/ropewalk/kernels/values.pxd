cdef class ArcEnds:
    cdef const int[::1] left, right
    cdef const unsigned char[::1] rightward
    cdef const int[::1] offsets, words

cdef class Spelling:
    cdef const int[::1] labels, offsets, symbols, starts

cdef class SymbolBuffer:
    cdef int[::1] symbols, starts

cdef class ArcBuffer:
    cdef int[::1] heads, dependents, offsets

cdef class Findings:
    cdef int[::1] words, kinds
    cdef readonly int count
    cdef void add(self, int word, int kind) noexcept nogil

cdef class Workspace:
    cdef int[::1] node1, node2, node3, node4, node5, node6, arc1, arc2, arc3
