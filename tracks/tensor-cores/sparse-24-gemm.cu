// The gaps are filled with zeros as a tile of A enters shared memory; then dense tensor core instructions multiply it.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 32, DEPTH = 32, GROUPS = DEPTH / 4, PADDING = 8, THREADS = 128;

__global__ void product(const __half* values, const uint8_t* indices, const __half* B, __half* C, int M, int N, int K) {
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
        for (int i = threadIdx.x; i < TILE * GROUPS; i += THREADS) {
            int r = i / GROUPS, g = i % GROUPS, group = first / 4 + g;
            half four[4] = {zero, zero, zero, zero};
            if (first_row + r < M && group < K / 4) {
                size_t m = first_row + r;
                int bits = indices[m * (K / 8) + group / 2] >> (group % 2 * 4);
                const half* pair = values + m * (K / 2) + 2 * group;
                for (int place = 0; place < 4; place++) {
                    if (place == (bits & 3)) four[place] = pair[0];
                    if (place == (bits >> 2 & 3)) four[place] = pair[1];
                }
            }
            for (int place = 0; place < 4; place++) a[r][4 * g + place] = four[place];
        }
        for (int i = threadIdx.x; i < DEPTH * TILE; i += THREADS) {
            int k = i / TILE, c = i % TILE;
            b[k][c] = first + k < K && first_column + c < N ? B[(size_t)(first + k) * N + first_column + c] : zero;
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k += 16) {
            wmma::load_matrix_sync(left, &a[row][k], DEPTH + PADDING);
            wmma::load_matrix_sync(right, &b[k][column], TILE + PADDING);
            wmma::mma_sync(sum, left, right, sum);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(&staged[row][column], sum, TILE, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < TILE * TILE; i += THREADS) {
        int r = first_row + i / TILE, c = first_column + i % TILE;
        if (r < M && c < N) C[(size_t)r * N + c] = __float2half(staged[i / TILE][i % TILE]);
    }
}

extern "C" void solve(const __half* values, const uint8_t* indices, const __half* B, __half* C, int M, int N, int K) {
    product<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), THREADS>>>(values, indices, B, C, M, N, K);
}
