// Tensor cores fed from shared memory: a block of four warps makes 64 x 64 of C, and each number of a tile that it loads
// serves two warps. Rows in shared memory have eight halves more than the tile, against bank conflicts.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int SIDE = 64, DEPTH = 32, THREADS = 128;
constexpr int A_STRIDE = DEPTH + 8, B_STRIDE = SIDE + 8;

__global__ void gemm(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    __shared__ __align__(32) half a[SIDE * A_STRIDE], b[DEPTH * B_STRIDE];
    __shared__ __align__(32) float results[THREADS / 32][16 * 16];
    int first_row = blockIdx.y * SIDE, first_column = blockIdx.x * SIDE;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (auto& fragments : sum) {
        for (auto& fragment : fragments) wmma::fill_fragment(fragment, 0.0f);
    }
    for (int first = 0; first < K; first += DEPTH) {
        // Pieces of eight halves, 16 bytes: all sizes are multiples of 16, so a piece is there in full or not at all.
        for (int i = threadIdx.x; i < SIDE * DEPTH / 8; i += THREADS) {
            uint4 none = {0, 0, 0, 0};
            int row = i / (DEPTH / 8), column = i % (DEPTH / 8) * 8;
            bool there = first_row + row < M && first + column < K;
            *reinterpret_cast<uint4*>(&a[row * A_STRIDE + column]) =
                there ? *reinterpret_cast<const uint4*>(&A[(size_t)(first_row + row) * K + first + column]) : none;
            row = i / (SIDE / 8), column = i % (SIDE / 8) * 8;
            there = first + row < K && first_column + column < N;
            *reinterpret_cast<uint4*>(&b[row * B_STRIDE + column]) =
                there ? *reinterpret_cast<const uint4*>(&B[(size_t)(first + row) * N + first_column + column]) : none;
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(left[i], &a[(warp_row + 16 * i) * A_STRIDE + k], A_STRIDE);
                wmma::load_matrix_sync(right[i], &b[k * B_STRIDE + warp_column + 16 * i], B_STRIDE);
            }
            for (int i = 0; i < 2; i++) {
                for (int j = 0; j < 2; j++) wmma::mma_sync(sum[i][j], left[i], right[j], sum[i][j]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            int row = first_row + warp_row + 16 * i, column = first_column + warp_column + 16 * j;
            if (row >= M || column >= N) continue;
            wmma::store_matrix_sync(results[warp], sum[i][j], 16, wmma::mem_row_major);
            __syncwarp();
            for (int e = lane; e < 256; e += 32) {
                size_t at = (size_t)(row + e / 16) * N + column + e % 16;
                C[at] = __float2half(alpha * results[warp][e] + beta * __half2float(C[at]));
            }
            __syncwarp();
        }
    }
}

extern "C" void solve(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    gemm<<<dim3((N + SIDE - 1) / SIDE, (M + SIDE - 1) / SIDE), THREADS>>>(A, B, C, M, N, K, alpha, beta);
}
