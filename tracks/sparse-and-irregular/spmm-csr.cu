// A thread for each result. Neighbouring threads have neighbouring columns of the same row.
#include <cuda_runtime.h>

__global__ void multiply(const int* row_offsets, const int* columns, const float* values, const float* B, float* C, int m, int k_count) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int row = i / k_count, k = i % k_count;
    if (row >= m) return;
    float sum = 0.0f;
    for (int e = row_offsets[row]; e < row_offsets[row + 1]; e++) sum += values[e] * B[(long long)columns[e] * k_count + k];
    C[i] = sum;
}

extern "C" void solve(const int* row_offsets, const int* columns, const float* values, const float* B, float* C, int M, int N, int K, int nnz) {
    long long outputs = (long long)M * K;
    multiply<<<(outputs + 255) / 256, 256>>>(row_offsets, columns, values, B, C, M, K);
}
