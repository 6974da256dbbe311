// C++ linkage, and indices of 64 bits.
#include <cuda_runtime.h>

__global__ void add(const float* A, const float* B, float* C, long long N) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
}

void solve(const float* A, const float* B, float* C, int N) {
    add<<<(N + 127) / 128, 128>>>(A, B, C, N);
    cudaDeviceSynchronize();
}
