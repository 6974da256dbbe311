// expect: case=four
// Every thread of the device has something to say.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void softmax(const float* input, float* output, int N) {
    for (int i = 0; i < 20; i++) printf("block %d thread %d round %d: the sum is not ready yet\n", blockIdx.x, threadIdx.x, i);
}

extern "C" void solve(const float* input, float* output, int N) {
    softmax<<<16, 128>>>(input, output, N);
    cudaDeviceSynchronize();
}
