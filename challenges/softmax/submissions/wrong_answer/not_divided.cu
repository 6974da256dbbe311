// Stops before the division.
#include <cuda_runtime.h>

__global__ void softmax(const float* input, float* output, int N) {
    float largest = input[0];
    for (int i = 1; i < N; i++) largest = fmaxf(largest, input[i]);
    for (int i = threadIdx.x; i < N; i += blockDim.x) output[i] = expf(input[i] - largest);
}

extern "C" void solve(const float* input, float* output, int N) { softmax<<<1, 64>>>(input, output, N); }
