// One thread per output, with the accurate functions of the library.
#include <cuda_runtime.h>

__global__ void swiglu(const float* input, float* output, int half) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= half) return;
    float gate = input[i];
    output[i] = gate / (1.0f + expf(-gate)) * input[half + i];
}

extern "C" void solve(const float* input, float* output, int N) {
    int half = N / 2;
    swiglu<<<(half + 255) / 256, 256>>>(input, output, half);
}
