// Tensor cores the easy way: a warp holds 2 x 2 accumulators of 16 x 16 and reads A and B straight from memory (the
// caches do the rest).
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int WARPS = 4;

__global__ void gemm(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    __shared__ float tile[WARPS][16 * 16];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int row = blockIdx.y * 32;
    int column = (blockIdx.x * WARPS + warp) * 32;
    bool two_rows = row + 16 < M, two_columns = column + 16 < N;
    if (column >= N) return;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (auto& fragments : sum) {
        for (auto& fragment : fragments) wmma::fill_fragment(fragment, 0.0f);
    }
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[2];
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(a[0], A + row * K + k, K);
        wmma::load_matrix_sync(b[0], B + k * N + column, N);
        // At the edges the second tile is the first again; its sums are never written.
        wmma::load_matrix_sync(a[1], A + (row + (two_rows ? 16 : 0)) * K + k, K);
        wmma::load_matrix_sync(b[1], B + k * N + column + (two_columns ? 16 : 0), N);
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 2; j++) wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
        }
    }
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            if ((i == 1 && !two_rows) || (j == 1 && !two_columns)) continue;
            wmma::store_matrix_sync(tile[warp], sum[i][j], 16, wmma::mem_row_major);
            __syncwarp();
            for (int e = lane; e < 256; e += 32) {
                int at = (row + 16 * i + e / 16) * N + column + 16 * j + e % 16;
                C[at] = __float2half(alpha * tile[warp][e] + beta * __half2float(C[at]));
            }
            __syncwarp();
        }
    }
}

extern "C" void solve(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    dim3 blocks((N + 32 * WARPS - 1) / (32 * WARPS), (M + 31) / 32);
    gemm<<<blocks, 32 * WARPS>>>(A, B, C, M, N, K, alpha, beta);
}
