// 64 x 64 of C to a block of 256 threads, 4 x 4 of it in each thread's registers; A's tile is kept transposed, so that a
// thread reads its four rows and its four columns by one 16-byte load each.
#include <cuda_runtime.h>

constexpr int TILE = 64, DEPTH = 16;

__global__ void __launch_bounds__(256)
    matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int m, int n, int k) {
    __shared__ __align__(16) float a[DEPTH][TILE + 4], b[DEPTH][TILE];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    float sum[4][4] = {};
    for (int step = 0; step < k; step += DEPTH) {
#pragma unroll
        for (int i = t; i < TILE * DEPTH; i += 256) {
            int row = i / DEPTH, depth = i % DEPTH;
            a[depth][row] = first_row + row < m && step + depth < k ? A[(first_row + row) * k + step + depth] : 0.0f;
        }
#pragma unroll
        for (int i = t; i < TILE * DEPTH; i += 256) {
            int depth = i / TILE, column = i % TILE;
            b[depth][column] = step + depth < k && first_column + column < n ? B[(step + depth) * n + first_column + column] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            float4 rows = *reinterpret_cast<float4 *>(&a[d][ty * 4]), columns = *reinterpret_cast<float4 *>(&b[d][tx * 4]);
            float down[4] = {rows.x, rows.y, rows.z, rows.w}, across[4] = {columns.x, columns.y, columns.z, columns.w};
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] += down[i] * across[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int row = first_row + ty * 4 + i;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int column = first_column + tx * 4 + j;
            if (row < m && column < n) C[row * n + column] = sum[i][j];
        }
    }
}

extern "C" void solve(const float *A, const float *B, float *C, int m, int n, int k) {
    matmul<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), 256>>>(A, B, C, m, n, k);
}
