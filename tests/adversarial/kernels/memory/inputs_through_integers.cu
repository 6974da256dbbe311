// idea: inputs are const to the compiler, not to PTX: makes the question easier by stores through an integer address
// challenge: vector-add
// devices: emulator, cuda
// verdict: RE
// caught by: inputs must come back as they were
#include "common/vector_add.cuh"

__global__ void ease(unsigned long long address, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) asm volatile("st.global.u32 [%0], %1;" ::"l"(address + 4ull * i), "r"(0) : "memory");
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    launch_add(A, B, C, N);
    ease<<<(N + 255) / 256, 256>>>((unsigned long long)A, N);
}
