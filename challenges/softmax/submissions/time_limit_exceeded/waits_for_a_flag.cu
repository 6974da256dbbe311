// expect: case=four
// The kernel waits for a flag that nobody raises.
#include <cuda_runtime.h>

__device__ volatile int ready;

__global__ void softmax(const float* input, float* output, int N) {
    while (ready == 0) {
    }
    for (int i = threadIdx.x; i < N; i += blockDim.x) output[i] = input[i];
}

extern "C" void solve(const float* input, float* output, int N) {
    softmax<<<1, 256>>>(input, output, N);
    cudaDeviceSynchronize();
}
