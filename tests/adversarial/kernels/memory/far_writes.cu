// idea: writes where it happens to hit another allocation: from the output, by the distance to an input
// challenge: vector-add
// devices: emulator, cuda
// verdict: RE
// caught by: inputs must come back as they were
#include "common/vector_add.cuh"

__global__ void far(float* C, long distance) { C[distance] = 1e30f; }

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    launch_add(A, B, C, N);
    far<<<1, 1>>>(C, B - C);
}
