// challenge: vector-add
// verdict: TLE
// told: fit on the device at once, and the rest cannot begin before one of them ends
#include <cuda_runtime.h>

__device__ unsigned arrived;

__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&arrived, 1);
        while (atomicAdd(&arrived, 0) < gridDim.x) {
        }
    }
    __syncthreads();
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    cudaMemset(C, 0, N * sizeof(float));
    unsigned none = 0;
    cudaMemcpyToSymbol(arrived, &none, sizeof none);
    add<<<(N + 31) / 32 + 20000, 32>>>(A, B, C, N);
    cudaDeviceSynchronize();
}
