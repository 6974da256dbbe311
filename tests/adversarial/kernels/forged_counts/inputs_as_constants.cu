// idea: loads of constant memory cost nothing in the profile: reads its inputs by them
// challenge: vector-add
// devices: emulator
// verdict: RE
// caught by: such a load reaches the constant variables only, in the emulator as on hardware
#include "common/vector_add.cuh"

__device__ float constant(const float* from) {
    float value;
    asm volatile("ld.const.f32 %0, [%1];" : "=f"(value) : "l"(from));
    return value;
}

__global__ void sum(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = constant(A + i) + constant(B + i);
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { sum<<<(N + 255) / 256, 256>>>(A, B, C, N); }
