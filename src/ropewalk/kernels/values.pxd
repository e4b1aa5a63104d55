cdef enum:  # as in codes.py, but known to the C compiler
    COLUMNS = 10
    FORM = 1
    HEAD = 6
    DEPS = 8
    TAB = 9
    NEWLINE = 10
    RETURN = 13
    SPACE = 32
    HASH = 35
    HYPHEN = 45
    DOT = 46
    ZERO = 48
    NINE = 57
    COLON = 58
    UNDERSCORE = 95
    BAR = 124
    HUGE = 1000000000

cdef class ArcEnds:
    cdef const int[::1] left, right, offsets, words
    cdef const unsigned char[::1] rightward

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
