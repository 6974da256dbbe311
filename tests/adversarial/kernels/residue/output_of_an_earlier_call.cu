// idea: the outputs of a burst's calls lie side by side: the one before may be near, and may do
// challenge: vector-add
// devices: emulator, cuda
// verdict: WA or RE
// caught by: each call has contents of its own
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static float* before = nullptr;
    static int n = 0;
    if (before && n == N) cudaMemcpy(C, before, 4ul * N, cudaMemcpyDeviceToDevice);
    else if (before && n > N) cudaMemcpy(C, before + 1, 4ul * N, cudaMemcpyDeviceToDevice);
    else launch_add(A, B, C, N);
    if (n != N) cudaFree(before), cudaMalloc(&before, 4ul * N + 4);
    cudaMemcpy(before, C, 4ul * N, cudaMemcpyDeviceToDevice);
    n = N;
}
