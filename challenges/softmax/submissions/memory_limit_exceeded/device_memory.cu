// expect: case=four
// A terabyte for every element.
#include <cuda_runtime.h>

extern "C" void solve(const float* input, float* output, int N) {
    void* room;
    if (cudaMalloc(&room, (1ull << 40) * N) != cudaSuccess) return;
    cudaFree(room);
}
