from ropewalk.kernels.forest cimport attach, clear, top
from ropewalk.kernels.values cimport ArcBuffer, Findings, Workspace

include "codes.pxi"

cpdef void settle(ArcBuffer arcs, const int[::1] offsets, int[::1] heads, Findings faults, Workspace work) noexcept
cpdef void repair(int[::1] heads, const int[::1] offsets, int to_root, int keep_roots, Findings repairs,
                  Workspace work) noexcept
cdef int _keep_sound(int[::1] heads, int start, int n, int keep_roots, Findings repairs, int[::1] up) noexcept nogil
cdef int _nearest(int d, int n, int root, int[::1] up) noexcept nogil
