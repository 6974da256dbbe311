// Eight lanes for each row: they read its elements side by side and add up by shuffles.
#include <cuda_runtime.h>

constexpr int THREADS = 256, LANES = 8;

__global__ void multiply(const int* row_offsets, const int* columns, const float* values, const float* x, float* y, int M) {
    int row = (blockIdx.x * THREADS + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    bool is_there = row < M;
    int begin = is_there ? row_offsets[row] : 0, end = is_there ? row_offsets[row + 1] : 0;
    float sum = 0.0f;
    for (int e = begin + lane; e < end; e += LANES) sum += values[e] * x[columns[e]];
    for (int mask = LANES / 2; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    if (is_there && lane == 0) y[row] = sum;
}

extern "C" void solve(const int* row_offsets, const int* columns, const float* values, const float* x, float* y, int M, int N, int nnz) {
    int rows_of_block = THREADS / LANES;
    multiply<<<(M + rows_of_block - 1) / rows_of_block, THREADS>>>(row_offsets, columns, values, x, y, M);
}
