// Tensor cores have no tiles of 16 x 24.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

__global__ void gemm(const half* A, half* C, int K) {
    wmma::fragment<wmma::matrix_a, 16, 24, 16, half, wmma::row_major> a;
    wmma::load_matrix_sync(a, A, K);
    C[threadIdx.x] = a.x[0];
}

extern "C" void solve(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    gemm<<<1, 32>>>(A, C, K);
}
