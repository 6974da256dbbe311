#include <cuda_runtime.h>

// 132 blocks of four warps: one load is under way in each, and the loop waits for it before the next.
__global__ void relu(const float* input, float* output, int N) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x)
        output[i] = fmaxf(input[i], 0.0f);
}

extern "C" void solve(const float* input, float* output, int N) { relu<<<132, 128>>>(input, output, N); }
