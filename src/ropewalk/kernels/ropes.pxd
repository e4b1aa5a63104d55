from ropewalk.kernels.values cimport ArcEnds, SymbolBuffer, Workspace

include "codes.pxi"

cpdef void order(ArcEnds ends, int[::1] out, Workspace work) noexcept
cpdef void proper(ArcEnds ends, const int[::1] arcs, unsigned char[::1] structural, Workspace work) noexcept
cpdef void farthest(ArcEnds ends, unsigned char[::1] structural, Workspace work) noexcept
cpdef void lean(ArcEnds ends, const int[::1] arcs, const unsigned char[::1] structural, int[::1] rope,
                unsigned char[::1] side, Workspace work) noexcept
cpdef void thickness(ArcEnds ends, const unsigned char[::1] structural, int[::1] out, Workspace work) noexcept
cpdef int brackets(ArcEnds ends, const int[::1] arcs, const unsigned char[::1] side, SymbolBuffer out,
                   Workspace work) noexcept
