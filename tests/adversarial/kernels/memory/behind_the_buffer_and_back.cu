// idea: uses what lies behind the output as scratch, and puts the pattern back that it found there
// challenge: vector-add
// devices: emulator, cuda
// verdict: RE or AC
// caught by: the emulator sees each access; on a GPU nothing is left of it, and nothing gained
#include "common/vector_add.cuh"

__global__ void scratch(const float* A, const float* B, float* C, int N) {
    float before = C[N];
    C[N] = A[0] + B[0];
    __threadfence();
    C[0] = C[N];
    C[N] = before;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    launch_add(A, B, C, N);
    scratch<<<1, 1>>>(A, B, C, N);
}
