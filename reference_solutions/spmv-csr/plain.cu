// One thread a row.
#include <cuda_runtime.h>

__global__ void multiply(const int* row_offsets, const int* columns, const float* values, const float* x, float* y, int m) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m) return;
    float sum = 0.0f;
    for (int e = row_offsets[row]; e < row_offsets[row + 1]; e++) sum += values[e] * x[columns[e]];
    y[row] = sum;
}

extern "C" void solve(const int* row_offsets, const int* columns, const float* values, const float* x, float* y, int M, int N, int nnz) {
    multiply<<<(M + 127) / 128, 128>>>(row_offsets, columns, values, x, y, M);
}
