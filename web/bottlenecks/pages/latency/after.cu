#include <cuda_runtime.h>

// Four loads are under way in each thread, and there is a thread for every four elements.
__global__ void relu(const float* input, float* output, int N) {
    int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    float held[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int i = first + k * blockDim.x;
        held[k] = i < N ? input[i] : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int i = first + k * blockDim.x;
        if (i < N) output[i] = fmaxf(held[k], 0.0f);
    }
}

extern "C" void solve(const float* input, float* output, int N) { relu<<<(N + 1023) / 1024, 256>>>(input, output, N); }
