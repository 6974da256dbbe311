// idea: half a megabyte of local memory in each of 2^16 threads: more than the host has, where the emulator keeps it
// challenge: vector-add
// devices: emulator
// verdict: MLE or AC
// caught by: the memory of a runner is bounded, also of one that does again what was recorded
#include "common/vector_add.cuh"

__global__ void hog(float* C, int n) {
    volatile char big[500000];
    for (int i = 0; i < 500000; i += 4096) big[(i + n) % 500000] = i;
    if (big[n] == 77) C[0] = 1;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    hog<<<64, 1024>>>(C, 5);
    launch_add(A, B, C, N);
}
