// 4 x 8 of C to a thread, 64 x 64 to a block of 128; while one pair of tiles is multiplied, cp.async brings the next.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int TILE = 64, DEPTH = 16, THREADS = 128;

// n and k are multiples of four, as 16-byte copies need; what lies outside is filled with zeros.
__device__ __forceinline__ void copy16(float *to, const float *matrix, int row, int rows, int column, int columns) {
    bool there = row < rows && column < columns;
    __pipeline_memcpy_async(to, matrix + (there ? row * columns + column : 0), 16, there ? 0 : 16);
}

__global__ void __launch_bounds__(THREADS)
    matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int m, int n, int k) {
    __shared__ __align__(16) float a[2][TILE][DEPTH + 4], b[2][DEPTH][TILE];
    int t = threadIdx.x, tx = t % 8, ty = t / 8;
    int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    auto fetch = [&](int buffer, int step) {
#pragma unroll
        for (int i = t; i < TILE * DEPTH / 4; i += THREADS) {
            int row = i / (DEPTH / 4), depth = i % (DEPTH / 4) * 4;
            copy16(&a[buffer][row][depth], A, first_row + row, m, step + depth, k);
        }
#pragma unroll
        for (int i = t; i < TILE * DEPTH / 4; i += THREADS) {
            int depth = i / (TILE / 4), column = i % (TILE / 4) * 4;
            copy16(&b[buffer][depth][column], B, step + depth, k, first_column + column, n);
        }
        __pipeline_commit();
    };
    float sum[4][8] = {};
    fetch(0, 0);
    for (int step = 0, buffer = 0; step < k; step += DEPTH, buffer ^= 1) {
        if (step + DEPTH < k) fetch(buffer ^ 1, step + DEPTH);
        else __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            float down[4], across[8];
#pragma unroll
            for (int i = 0; i < 4; i++) down[i] = a[buffer][ty * 4 + i][d];
            *reinterpret_cast<float4 *>(across) = *reinterpret_cast<float4 *>(&b[buffer][d][tx * 4]);
            *reinterpret_cast<float4 *>(across + 4) = *reinterpret_cast<float4 *>(&b[buffer][d][32 + tx * 4]);
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 8; j++) sum[i][j] += down[i] * across[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int row = first_row + ty * 4 + i;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int column = first_column + half * 32 + tx * 4;
            if (row < m && column < n) {
                *reinterpret_cast<float4 *>(&C[row * n + column]) =
                    make_float4(sum[i][half * 4], sum[i][half * 4 + 1], sum[i][half * 4 + 2], sum[i][half * 4 + 3]);
            }
        }
    }
}

extern "C" void solve(const float *A, const float *B, float *C, int m, int n, int k) {
    matmul<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), THREADS>>>(A, B, C, m, n, k);
}
