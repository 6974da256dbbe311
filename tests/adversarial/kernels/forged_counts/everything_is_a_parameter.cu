// idea: parameters cost nothing in the profile: reads the inputs, and writes the output, as if they were some
// challenge: vector-add
// devices: emulator
// verdict: RE
// caught by: loads of parameters reach the launch's own only, and nobody may write those
#include "common/vector_add.cuh"

__device__ float parameter(const float* from) {
    float value;
    asm volatile("ld.param.f32 %0, [%1];" : "=f"(value) : "l"(from));
    return value;
}

__global__ void sum(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float value = parameter(A + i) + parameter(B + i);
    asm volatile("st.param.f32 [%0], %1;" ::"l"(C + i), "f"(value) : "memory");
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { sum<<<(N + 255) / 256, 256>>>(A, B, C, N); }
