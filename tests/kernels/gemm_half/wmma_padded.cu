// 64 x 64 of C to a block of four warps, rows of the tiles in shared memory eight halves longer: no bank conflicts.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 64, DEPTH = 32, PAD = 8;

__global__ void __launch_bounds__(128)
    gemm(const half *__restrict__ A, const half *__restrict__ B, float *__restrict__ C, int m, int n, int k) {
    __shared__ __align__(32) half a[TILE][DEPTH + PAD], b[DEPTH][TILE + PAD];
    int t = threadIdx.x, warp = t / 32, first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[2][2];
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) wmma::fill_fragment(c[i][j], 0.0f);
    }
    for (int step = 0; step < k; step += DEPTH) {
        for (int i = t; i < TILE * DEPTH / 8; i += 128) {
            int row = i / (DEPTH / 8), column = i % (DEPTH / 8) * 8;
            *reinterpret_cast<int4 *>(&a[row][column]) =
                *reinterpret_cast<const int4 *>(&A[(first_row + row) * k + step + column]);
        }
        for (int i = t; i < TILE * DEPTH / 8; i += 128) {
            int row = i / (TILE / 8), column = i % (TILE / 8) * 8;
            *reinterpret_cast<int4 *>(&b[row][column]) =
                *reinterpret_cast<const int4 *>(&B[(step + row) * n + first_column + column]);
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEPTH; d += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> down[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> across[2];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(down[i], &a[warp_row + i * 16][d], DEPTH + PAD);
                wmma::load_matrix_sync(across[i], &b[d][warp_column + i * 16], TILE + PAD);
            }
#pragma unroll
            for (int i = 0; i < 2; i++) {
#pragma unroll
                for (int j = 0; j < 2; j++) wmma::mma_sync(c[i][j], down[i], across[j], c[i][j]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            float *to = C + (first_row + warp_row + i * 16) * n + first_column + warp_column + j * 16;
            wmma::store_matrix_sync(to, c[i][j], n, wmma::mem_row_major);
        }
    }
}

extern "C" void solve(const half *A, const half *B, float *C, int m, int n, int k) {
    gemm<<<dim3(n / TILE, m / TILE), 128>>>(A, B, C, m, n, k);
}
