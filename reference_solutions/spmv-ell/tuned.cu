// Columns and values of four places are on their way at once, past the caches, which are left to x. Where rows are few, 8
// warps of a block share 32 rows and add up in shared memory.
#include <cuda_runtime.h>

constexpr int UNROLL = 4;

__device__ float sum_places(const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ x, int m, int row,
                            int first, int step, int width) {
    float sum = 0.0f;
    for (int s = first; s < width; s += UNROLL * step) {
        int column[UNROLL];
        float value[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            int place = s + u * step;
            column[u] = place < width ? __ldcs(columns + (long long)place * m + row) : -1;
            value[u] = place < width ? __ldcs(values + (long long)place * m + row) : 0.0f;
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            if (column[u] >= 0) sum += value[u] * __ldg(x + column[u]);
        }
    }
    return sum;
}

__global__ void __launch_bounds__(256) one_thread_a_row(const int* columns, const float* values, const float* x, float* y, int m, int width) {
    int row = blockIdx.x * 256 + threadIdx.x;
    if (row < m) y[row] = sum_places(columns, values, x, m, row, 0, 1, width);
}

__global__ void __launch_bounds__(256) eight_threads_a_row(const int* columns, const float* values, const float* x, float* y, int m, int width) {
    __shared__ float sums[8][32];
    int row = blockIdx.x * 32 + threadIdx.x;
    sums[threadIdx.y][threadIdx.x] = row < m ? sum_places(columns, values, x, m, row, threadIdx.y, 8, width) : 0.0f;
    __syncthreads();
    if (threadIdx.y > 0 || row >= m) return;
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; i++) sum += sums[i][threadIdx.x];
    y[row] = sum;
}

extern "C" void solve(const int* columns, const float* values, const float* x, float* y, int M, int N, int width) {
    if (M >= 100000 || width < 8) one_thread_a_row<<<(M + 255) / 256, 256>>>(columns, values, x, y, M, width);
    else eight_threads_a_row<<<(M + 31) / 32, dim3(32, 8)>>>(columns, values, x, y, M, width);
}
