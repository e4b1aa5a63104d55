cimport cython

cdef double NOTHING

@cython.locals(gain=double, hope=double, top=double, dropped=double, base=cython.longlong, own=cython.longlong, link=int, word=int, q=int, t=int,
               i=int, b=int, c=int, x=int, p=int, m=int, h=int, s=int, same=int, kept=int, found=int, layer=int, other=int,
               count=int, size=int, n=int, first=int, row=int)
cpdef void search(const double[:, ::1] scores, const double[:, ::1] ties, const int[::1] offsets,
                  const float[::1] arcs, const long long[::1] starts, const int[::1] begins, const int[::1] labels,
                  const int[::1] targets, const int[::1] roots, const int[::1] finals, const int[:, ::1] marks,
                  const int[::1] sides, const double[::1] floors, int width, int[::1] best, double[::1] totals, double[::1] bounds, double[:, ::1] after,
                  double[::1] later, double[::1] likely, double[::1] values, int[::1] states, int[:, ::1] parents, int[:, ::1] taken,
                  int[:, :, ::1] openers, int[:, :, ::1] waiting, int[::1] chain, double[::1] hopes,
                  double[::1] gains, double[::1] kept_gains, int[::1] froms, int[::1] ways, int[::1] heap) noexcept

@cython.locals(key=double, moved=int, below=int)
cdef void _sink(int[::1] heap, const double[::1] keys, int at, int size) noexcept nogil
