// A thread per element of the output; each reads its own element of Q, its partner, and both tables.
#include <cuda_runtime.h>

__global__ void rotate(const float* Q, const float* cos, const float* sin, float* output, size_t count, int D) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int half = D / 2;
    float partner = i % D < half ? -Q[i + half] : Q[i - half];
    output[i] = Q[i] * cos[i] + partner * sin[i];
}

extern "C" void solve(float* Q, float* cos, float* sin, float* output, int M, int D) {
    size_t count = (size_t)M * D;
    rotate<<<(unsigned)((count + 255) / 256), 256>>>(Q, cos, sin, output, count, D);
}
