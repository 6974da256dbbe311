// idea: nobody looks closely for long: honest for 24 calls, then the same answer over and over
// challenge: vector-add
// devices: emulator, cuda
// verdict: WA or AC
// verdict on cuda: WA
// caught by: calls are drawn from all of them, after the fact
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static int calls = 0, n = 0;
    static float* kept = nullptr;
    if (++calls > 24 && n == N) {
        cudaMemcpyAsync(C, kept, 4ul * (N / 2), cudaMemcpyDeviceToDevice);
        return;
    }
    launch_add(A, B, C, N);
    if (n == N) return;
    cudaFree(kept);
    cudaMalloc(&kept, 4ul * N);
    cudaMemcpy(kept, C, 4ul * N, cudaMemcpyDeviceToDevice);
    n = N;
}
