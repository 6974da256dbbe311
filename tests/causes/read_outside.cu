// challenge: reduction
// verdict: WA
// told: ; out-of-bounds read of 4 bytes at kernel.cu:8 in add
#include <cuda_runtime.h>

__global__ void add(const float* input, float* output, int N) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i <= N; i += blockDim.x) sum += input[i];
    atomicAdd(output, sum + 1.0f);
}

extern "C" void solve(const float* input, float* output, int N) {
    cudaMemset(output, 0, sizeof(float));
    add<<<1, 32>>>(input, output, N);
    cudaDeviceSynchronize();
}
