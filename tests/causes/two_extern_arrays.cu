// challenge: vector-add
// verdict: WA
// told: begin at the same address, as all extern __shared__ arrays of a kernel do
#include <cuda_runtime.h>

__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    extern __shared__ float left[];
    extern __shared__ float right[];
    if (i < N) {
        left[threadIdx.x] = A[i];
        right[threadIdx.x] = B[i];
    }
    __syncthreads();
    if (i < N) C[i] = left[threadIdx.x] + right[threadIdx.x];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<(N + 255) / 256, 256, 2 * 256 * sizeof(float)>>>(A, B, C, N);
    cudaDeviceSynchronize();
}
