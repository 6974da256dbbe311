// idea: the work goes to a stream that the default stream does not wait for, so that the closing event comes at once
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC or TI
// caught by: the closing event covers the whole context, and the supervisor waits until all of it is idle
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static cudaStream_t side = nullptr;
    if (!side) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    launch_add(A, B, C, N, side);
}
