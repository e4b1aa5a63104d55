from ropewalk.kernels.values cimport ArcBuffer, ArcEnds, Findings, Workspace

include "codes.pxi"

cpdef void write(ArcEnds ends, const int[::1] arc_planes, int many, unsigned char[::1] out, Workspace work) noexcept
cpdef void read(const unsigned char[::1] bits, const int[::1] offsets, int many, ArcBuffer arcs, Findings faults,
                Workspace work) noexcept
