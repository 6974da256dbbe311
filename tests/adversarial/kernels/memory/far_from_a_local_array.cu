// idea: places that are known when it is compiled are not checked when it runs: one far behind a local array
// challenge: vector-add
// devices: emulator
// verdict: RE
// caught by: only what lies inside of the thread's local memory goes unchecked
#include "common/vector_add.cuh"

__global__ void far(float* C, int N) {
    float value = N;
    asm volatile("{ .local .align 4 .b8 own[16]; st.local.f32 [own+0x10000000], %0; ld.local.f32 %0, [own+0x10000000]; }"
                 : "+f"(value));
    if (value == 77) C[0] = value;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    far<<<1, 32>>>(C, N);
    launch_add(A, B, C, N);
}
