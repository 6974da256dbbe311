// idea: 64 MB more in every call, never freed
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC or MLE or RE
// caught by: memory is the process's, which is ended; what is allocated in the call is on its clock
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    void* lost;
    cudaMalloc(&lost, 64 << 20);
    launch_add(A, B, C, N);
}
