// idea: takes all the device's memory and keeps it, so that the judge, or the next job, has none
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC or MLE or RE
// caught by: memory is the process's, which is ended
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    void* taken;
    for (size_t size = 1ul << 34; size >= 1 << 20; size /= 2) {
        while (cudaMalloc(&taken, size) == cudaSuccess) {}
    }
    cudaGetLastError();
    launch_add(A, B, C, N);
}
