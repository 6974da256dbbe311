// Bytes become halves, exactly, as they enter shared memory; four warps make a tile of 32 x 32 on tensor cores.
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 32, DEPTH = 32, PADDING = 8, THREADS = 128;

__global__ void multiply(const __nv_fp8_e4m3* A, const __nv_fp8_e4m3* B, half* C, float scale, int M, int N, int K) {
    __shared__ __align__(32) half a[TILE][DEPTH + PADDING], b[TILE][DEPTH + PADDING];
    __shared__ __align__(32) float staged[TILE][TILE];
    int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    int warp = threadIdx.x / 32, row = warp / 2 * 16, column = warp % 2 * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    half zero = __float2half(0.0f);
    for (int first = 0; first < K; first += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
            int r = i / DEPTH, k = i % DEPTH;
            bool is_there = first + k < K;
            a[r][k] = is_there && first_row + r < M ? (half)A[(size_t)(first_row + r) * K + first + k] : zero;
            b[r][k] = is_there && first_column + r < N ? (half)B[(size_t)(first_column + r) * K + first + k] : zero;
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k += 16) {
            wmma::load_matrix_sync(left, &a[row][k], DEPTH + PADDING);
            wmma::load_matrix_sync(right, &b[column][k], DEPTH + PADDING);
            wmma::mma_sync(sum, left, right, sum);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(&staged[row][column], sum, TILE, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < TILE * TILE; i += THREADS) {
        int r = first_row + i / TILE, c = first_column + i % TILE;
        if (r < M && c < N) C[(size_t)r * N + c] = __float2half(scale * staged[i / TILE][i % TILE]);
    }
}

extern "C" void solve(const __nv_fp8_e4m3* A, const __nv_fp8_e4m3* B, half* C, float scale_a, float scale_b, int M, int N, int K) {
    dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    multiply<<<grid, THREADS>>>(A, B, C, scale_a * scale_b, M, N, K);
}
