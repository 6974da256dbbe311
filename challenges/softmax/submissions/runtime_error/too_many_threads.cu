// expect: case=four
// A block of 2048 threads cannot be launched.
#include <cuda_runtime.h>

__global__ void softmax(const float* input, float* output, int N) {
    for (int i = threadIdx.x; i < N; i += blockDim.x) output[i] = expf(input[i]);
}

extern "C" void solve(const float* input, float* output, int N) {
    softmax<<<1, 2048>>>(input, output, N);
    cudaDeviceSynchronize();
}
