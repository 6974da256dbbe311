// A thread for each element. It writes zero, and then the number, if that is positive.
#include <cuda_runtime.h>

__global__ void relu(const float* input, float* output, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    output[i] = 0.0f;
    if (input[i] > 0.0f) output[i] = input[i];
}

extern "C" void solve(const float* input, float* output, int N) {
    relu<<<(N + 255) / 256, 256>>>(input, output, N);
}
