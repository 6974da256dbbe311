// expect: case=huge-numbers
// Half the sum of a number and its magnitude: the sum overflows for numbers above half of the largest.
#include <cuda_runtime.h>

__global__ void relu(const float *input, float *output, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) output[i] = (input[i] + fabsf(input[i])) / 2;
}

extern "C" void solve(const float *input, float *output, int N) { relu<<<(N + 255) / 256, 256>>>(input, output, N); }
