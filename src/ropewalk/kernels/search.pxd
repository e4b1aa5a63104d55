cimport cython

include "codes.pxi"

cdef class SearchedTrees:
    cdef readonly const int[::1] heads, starts, stops
    cdef readonly int[::1] first, after, before, sizes, order, depth, top, children

cdef class SearchedGraphs:
    cdef const int[::1] nodes, words, node_arcs, heads, dependents, out_starts, out_arcs

cdef class SearchPlan:
    cdef const unsigned char[:, ::1] masks
    cdef const int[:, ::1] edges
    cdef const int[::1] edge_starts
    cdef const int[:, ::1] parts
    cdef const int[::1] part_starts
    cdef const unsigned char[:, ::1] labels
    cdef int levels, enumerated
    cpdef void size(self, int levels, int enumerated) noexcept

cdef class SearchWork:
    cdef int[::1] values, marks, queue
    cdef int[:, ::1] candidates
    cdef int mark, rows, full
    cdef long long steps, most_steps
    cpdef void allow(self, long long most_steps) noexcept
    cpdef void restart(self) noexcept

cpdef void index(SearchedTrees trees) noexcept
cpdef int join(const int[::1] firsts, int begin, const int[::1] shown, int[:, ::1] out, SearchPlan plan,
               SearchedTrees trees, SearchedGraphs graphs, SearchWork work, long long slice_steps) noexcept
cdef void _enumerate(int level, const int[::1] shown, int[:, ::1] out, SearchPlan plan, SearchedTrees trees,
                     SearchedGraphs graphs, SearchWork work) noexcept nogil
cdef int _solvable(int level, int last, SearchPlan plan, SearchedTrees trees, SearchedGraphs graphs,
                   SearchWork work) noexcept nogil
cdef int _parts_hold(int level, SearchPlan plan, SearchedTrees trees, SearchedGraphs graphs,
                     SearchWork work) noexcept nogil
@cython.locals(child=int, ancestor=int, parent=int, w=int, count=int)
cdef int _fill(int level, SearchPlan plan, SearchedTrees trees, SearchedGraphs graphs, SearchWork work) noexcept nogil
cdef int _add(int w, int count, int level, int edge, SearchPlan plan, SearchedTrees trees, SearchedGraphs graphs,
              SearchWork work) noexcept nogil
cdef int _holds(int edge, int a, int b, SearchPlan plan, SearchedTrees trees, SearchedGraphs graphs,
                SearchWork work) noexcept nogil
