// A fixed grid that strides through the vectors; returns without synchronising.
#include <cuda_runtime.h>

__global__ void add(const float* A, const float* B, float* C, int N) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) C[i] = A[i] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { add<<<120, 256>>>(A, B, C, N); }
