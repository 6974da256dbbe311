// Four warps make a tile of 32 x 32 on tensor cores; bias and GELU follow before the only store.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 32, DEPTH = 16, PADDING = 8, THREADS = 128;

__device__ float gelu(float z) { return z / (1.0f + expf(-1.5957691216057308f * (z + 0.044715f * z * z * z))); }

__global__ void product(const half* A, const half* B, const half* bias, half* C, int M, int N, int K) {
    __shared__ __align__(32) half a[TILE][DEPTH + PADDING], b[DEPTH][TILE + PADDING];
    __shared__ __align__(32) float staged[TILE][TILE];
    int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    int warp = threadIdx.x / 32, row = warp / 2 * 16, column = warp % 2 * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    half zero = __float2half(0.0f);
    for (int first = 0; first < K; first += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
            int r = i / DEPTH, k = i % DEPTH;
            a[r][k] = first_row + r < M && first + k < K ? A[(size_t)(first_row + r) * K + first + k] : zero;
            k = i / TILE;
            int c = i % TILE;
            b[k][c] = first + k < K && first_column + c < N ? B[(size_t)(first + k) * N + first_column + c] : zero;
        }
        __syncthreads();
        wmma::load_matrix_sync(left, &a[row][0], DEPTH + PADDING);
        wmma::load_matrix_sync(right, &b[0][column], TILE + PADDING);
        wmma::mma_sync(sum, left, right, sum);
        __syncthreads();
    }
    wmma::store_matrix_sync(&staged[row][column], sum, TILE, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < TILE * TILE; i += THREADS) {
        int r = first_row + i / TILE, c = first_column + i % TILE;
        if (r < M && c < N) C[(size_t)r * N + c] = __float2half(gelu(staged[i / TILE][i % TILE] + __half2float(bias[c])));
    }
}

extern "C" void solve(const half* A, const half* B, const half* bias, half* C, int M, int N, int K) {
    product<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), THREADS>>>(A, B, bias, C, M, N, K);
}
