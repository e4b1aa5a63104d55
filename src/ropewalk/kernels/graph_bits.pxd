from ropewalk.kernels.values cimport ArcBuffer, ArcEnds, Findings, Workspace

cdef int GRAPH_FARTHEST_LEFT, GRAPH_FARTHEST_RIGHT, GRAPH_HAS_LEFT, GRAPH_HAS_RIGHT
cdef int GRAPH_LEFT_DEPENDENT, GRAPH_RIGHT_DEPENDENT, UNMATCHED_CLOSING, UNMATCHED_OPENING

cpdef void write(ArcEnds ends, const int[::1] arc_planes, int many, unsigned char[::1] out, Workspace work) noexcept
cpdef void read(const unsigned char[::1] bits, const int[::1] offsets, int many, ArcBuffer arcs, Findings faults,
                Workspace work) noexcept
