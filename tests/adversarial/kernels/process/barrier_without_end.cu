// idea: a barrier that only half of the block reaches, for ever
// challenge: vector-add
// devices: emulator
// verdict: TLE
// caught by: the emulator sees that nobody can go on, and says who waits where
#include "common/vector_add.cuh"

__global__ void wait(float* C) {
    asm volatile("barrier.sync 1, 64;" ::: "memory");
    C[0] = 0.0f;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    wait<<<1, 32>>>(C);
    launch_add(A, B, C, N);
}
