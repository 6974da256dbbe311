// dp4a on tiles of 64 x 64 in shared memory (a word more to a row), 4 x 4 of C to a thread.
#include <cuda_runtime.h>

constexpr int TILE = 64, WORDS = 8;

__global__ void __launch_bounds__(256)
    multiply(const int *__restrict__ A, const int *__restrict__ B, int *__restrict__ C, int m, int n, int words) {
    __shared__ int a[TILE][WORDS + 1], b[TILE][WORDS + 1];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    int sum[4][4] = {};
    for (int step = 0; step < words; step += WORDS) {
#pragma unroll
        for (int i = t; i < TILE * WORDS; i += 256) {
            a[i / WORDS][i % WORDS] = A[(first_row + i / WORDS) * words + step + i % WORDS];
            b[i / WORDS][i % WORDS] = B[(first_column + i / WORDS) * words + step + i % WORDS];
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < WORDS; d++) {
            int down[4], across[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                down[i] = a[ty + 16 * i][d];
                across[i] = b[tx + 16 * i][d];
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] = __dp4a(down[i], across[j], sum[i][j]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) C[(first_row + ty + 16 * i) * n + first_column + tx + 16 * j] = sum[i][j];
    }
}

extern "C" void solve(const signed char *A, const signed char *B, int *C, int m, int n, int k) {
    multiply<<<dim3(n / TILE, m / TILE), 256>>>((const int *)A, (const int *)B, C, m, n, k / 4);
}
