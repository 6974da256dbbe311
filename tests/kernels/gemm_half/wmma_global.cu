// A warp to 16 x 16 of C, fragments straight from global memory.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

__global__ void gemm(const half *A, const half *B, float *C, int m, int n, int k) {
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * 16, column = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16;
    if (row >= m || column >= n) return;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(a, A + row * k + i, k);
        wmma::load_matrix_sync(b, B + i * n + column, n);
        wmma::mma_sync(c, a, b, c);
    }
    wmma::store_matrix_sync(C + row * n + column, c, n, wmma::mem_row_major);
}

extern "C" void solve(const half *A, const half *B, float *C, int m, int n, int k) {
    gemm<<<dim3((n / 16 + 3) / 4, (m / 16 + 3) / 4), dim3(128, 4)>>>(A, B, C, m, n, k);
}
