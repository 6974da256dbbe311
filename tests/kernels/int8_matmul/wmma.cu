// Tensor cores on bytes: a warp to 32 x 32 of C, fragments straight from global memory.
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

__global__ void multiply(const signed char *A, const signed char *B, int *C, int n, int k) {
    int warp = threadIdx.x / 32;
    int row = blockIdx.y * 64 + warp / 2 * 32, column = blockIdx.x * 64 + warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> c[2][2];
    for (int i = 0; i < 4; i++) wmma::fill_fragment(c[i / 2][i % 2], 0);
    for (int d = 0; d < k; d += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a[2];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            wmma::load_matrix_sync(a[i], A + (row + 16 * i) * k + d, k);
            wmma::load_matrix_sync(b[i], B + (column + 16 * i) * k + d, k);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) wmma::mma_sync(c[i / 2][i % 2], a[i / 2], b[i % 2], c[i / 2][i % 2]);
    }
    for (int i = 0; i < 4; i++) {
        wmma::store_matrix_sync(C + (row + i / 2 * 16) * n + column + i % 2 * 16, c[i / 2][i % 2], n, wmma::mem_row_major);
    }
}

extern "C" void solve(const signed char *A, const signed char *B, int *C, int m, int n, int k) {
    multiply<<<dim3(n / 64, m / 64), 128>>>(A, B, C, n, k);
}
