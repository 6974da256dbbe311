// idea: frees the judge's output and gets its memory back as its own, so that nobody else fills or moves it
// challenge: vector-add
// devices: emulator, cuda
// verdict: RE or SV or WA or AC
// caught by: buffers begin behind a guard band, which is where they would have to be freed; what is gone is missed
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    launch_add(A, B, C, N);
    cudaDeviceSynchronize();
    if (cudaFree(C) != cudaSuccess) cudaFree((char*)C - (64 << 10));
    void* own;
    cudaMalloc(&own, 4ul * N + (128 << 10));
    cudaGetLastError();
}
