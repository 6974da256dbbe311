// challenge: vector-add
// verdict: WA
// told: cudaMemcpyToSymbol at kernel.cu:14 failed with cudaErrorInvalidValue: 128 bytes, of __constant__ addend, which has 64
#include <cuda_runtime.h>

__constant__ float addend[16];

__global__ void add(const float* A, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + addend[i % 16];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    cudaMemcpyToSymbol(addend, B, 128, 0, cudaMemcpyDeviceToDevice);
    cudaGetLastError();
    add<<<(N + 255) / 256, 256>>>(A, C, N);
    cudaDeviceSynchronize();
}
