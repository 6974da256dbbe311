// One thread per output.
#include <cuda_runtime.h>

__global__ void geglu(const float* input, float* output, int half) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= half) return;
    float gate = input[half + i];
    output[i] = input[i] * 0.5f * gate * (1.0f + erff(gate * 0.70710678f));
}

extern "C" void solve(const float* input, float* output, int N) {
    int half = N / 2;
    geglu<<<(half + 255) / 256, 256>>>(input, output, half);
}
