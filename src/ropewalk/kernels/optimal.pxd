from ropewalk.kernels.forest cimport attach, clear
from ropewalk.kernels.values cimport ArcBuffer, Findings, Spelling, Workspace

include "codes.pxi"

cdef int LEFT_ROPE, RIGHT_ROPE, WAITING, DROPPED, CLOSE_LEFT, INCOMING, OPEN_RIGHT

cpdef void write(const int[::1] heads, const int[::1] offsets, const unsigned char[::1] structural,
                 unsigned char[::1] codes) noexcept
cpdef void publish(const int[::1] heads, const int[::1] offsets, const unsigned char[::1] side,
                   unsigned char[::1] codes, Workspace work) noexcept
cdef int _turned(int turn, int code) noexcept nogil
cpdef void read(const unsigned char[::1] codes, const int[::1] offsets, int one_root, int peek, int[::1] heads,
                Findings faults, Workspace work) noexcept
cpdef void match(Spelling spelling, int keep_root, int trees, ArcBuffer arcs, Findings faults, Workspace work) noexcept
