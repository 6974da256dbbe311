// idea: pinned memory may be counted elsewhere: takes it until there is no more
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC or MLE or RE or TLE
// caught by: the jail's memory is bounded as a whole
#include <cstring>
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    void* taken;
    for (int i = 0; i < 256 && cudaMallocHost(&taken, 64 << 20) == cudaSuccess; i++) memset(taken, 1, 64 << 20);
    cudaGetLastError();
    launch_add(A, B, C, N);
}
