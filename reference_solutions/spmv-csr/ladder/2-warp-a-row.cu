// One warp a row: its lanes read neighbouring elements, and add up by shuffles.
#include <cuda_runtime.h>

__global__ void multiply(const int* row_offsets, const int* columns, const float* values, const float* x, float* y, int m) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= m) return;
    float sum = 0.0f;
    for (int e = row_offsets[row] + lane; e < row_offsets[row + 1]; e += 32) sum += values[e] * x[columns[e]];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (lane == 0) y[row] = sum;
}

extern "C" void solve(const int* row_offsets, const int* columns, const float* values, const float* x, float* y, int M, int N, int nnz) {
    multiply<<<(M + 7) / 8, 256>>>(row_offsets, columns, values, x, y, M);
}
