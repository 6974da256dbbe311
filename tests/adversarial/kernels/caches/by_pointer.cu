// idea: same pointers, same size: surely the same inputs as in the call before, and the answer is kept
// challenge: vector-add
// devices: emulator, cuda
// verdict: WA or AC or TI
// verdict on cuda: WA or AC
// caught by: fresh contents in every timed call, in buffers that move. On the emulator a later call is scored, and its replay gets other inputs
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static const float *a = nullptr, *b = nullptr;
    static float* kept = nullptr;
    static int n = 0;
    if (a == A && b == B && n == N) {
        cudaMemcpy(C, kept, 4ul * N, cudaMemcpyDeviceToDevice);
        return;
    }
    launch_add(A, B, C, N);
    if (kept) cudaFree(kept);
    cudaMalloc(&kept, 4ul * N);
    cudaMemcpy(kept, C, 4ul * N, cudaMemcpyDeviceToDevice);
    a = A, b = B, n = N;
}
