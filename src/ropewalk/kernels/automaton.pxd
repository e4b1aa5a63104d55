cimport cython

cdef double NEGLIGIBLE, NOTHING

@cython.locals(value=double, gain=double, total=double, end=int, low=int, high=int, middle=int, target=int, t=int)
cpdef void viterbi(const double[:, ::1] scores, const double[:, ::1] ties, const int[::1] offsets,
                   const int[::1] begins, const int[::1] labels, const int[::1] targets, const int[::1] roots,
                   const int[::1] finals, const int[::1] distances, int[::1] best, double[::1] totals,
                   double[::1] now, double[::1] soon, double[::1] gains, int[:, ::1] back) noexcept
@cython.locals(value=double, total=double, ends=double)
cpdef double forward(const double[:, ::1] weights, const double[:, ::1] ties, int n, const int[::1] begins,
                    const int[::1] labels, const int[::1] targets, const int[::1] roots, const int[::1] finals,
                    const int[::1] distances, double[:, ::1] alpha, double[::1] scales) noexcept nogil
@cython.locals(value=double, i=int)
cdef void backward(const double[:, ::1] weights, const double[:, ::1] ties, int n, const int[::1] begins,
                   const int[::1] labels, const int[::1] targets, const int[::1] roots, const int[::1] finals,
                   double[::1] scales, double[:, ::1] alpha, double[:, ::1] beta) noexcept nogil
@cython.locals(share=double, factor=double, value=double, part=double)
cpdef void sums(const double[:, ::1] weights, const double[:, ::1] ties, const int[::1] offsets,
                const int[::1] begins, const int[::1] labels, const int[::1] targets, const int[::1] roots,
                const int[::1] finals, const int[::1] distances, double[::1] shares, double[::1] scales, double[:, ::1] marginals,
                double[::1] rooted, double[:, ::1] alpha, double[:, ::1] beta) noexcept
@cython.locals(left=double, part=double, chosen=int, q=int, drawn=int)
cpdef int draw(const double[:, ::1] weights, const double[:, ::1] ties, int n, const int[::1] begins,
               const int[::1] labels, const int[::1] targets, const int[::1] roots, const int[::1] finals,
               const int[::1] distances, double[::1] scales, double[:, ::1] alpha, double[:, ::1] beta, const double[:, ::1] dice,
               int[:, ::1] out) noexcept
@cython.locals(have=double, gain=double, total=double, q=int, j=int, end=int, place=int, t=int, i=int, found=int, target=int)
cpdef int k_best(const double[:, ::1] scores, const double[:, ::1] ties, int n, int k, const int[::1] begins,
                 const int[::1] labels, const int[::1] targets, const int[::1] roots, const int[::1] finals,
                 int[:, ::1] out, double[::1] totals, double[:, :, ::1] value, int[:, :, ::1] via,
                 int[:, :, ::1] rank, const int[::1] sources) noexcept
@cython.locals(share=double, value=double, part=double, right=double, left=double, closed=int, count=int, q=int)
cpdef int arcs(const double[:, ::1] weights, const double[:, ::1] ties, int n, const int[::1] begins,
               const int[::1] labels, const int[::1] targets, const int[::1] roots, const int[::1] finals,
               const int[::1] distances, const int[:, ::1] marks, int heights, const int[::1] reach, const int[::1] heads,
               double[::1] chosen, double[:, ::1] matrix, double[::1] scales, double[:, ::1] alpha,
               double[:, ::1] beta, double[:, :, ::1] track, double[:, :, ::1] ahead, int[:, ::1] alive,
               int[::1] living) noexcept
