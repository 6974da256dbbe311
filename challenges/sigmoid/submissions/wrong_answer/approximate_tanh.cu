// Takes the sigmoid from the tanh of the hardware, of which five digits are right.

#include "solve.h"

__global__ void sigmoid(const float *X, float *Y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float tanh_of_half;
    asm("tanh.approx.f32 %0, %1;" : "=f"(tanh_of_half) : "f"(0.5f * X[i]));
    Y[i] = fmaf(0.5f, tanh_of_half, 0.5f);
}

extern "C" void solve(const float *X, float *Y, int N) { sigmoid<<<(N + 255) / 256, 256>>>(X, Y, N); }
