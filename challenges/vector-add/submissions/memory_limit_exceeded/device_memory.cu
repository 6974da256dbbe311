// expect: case=four
// Asks for a terabyte to work in, and gives up when there is none.
#include <cuda_runtime.h>

__global__ void add(const float* A, const float* B, float* room, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    room[i] = A[i] + B[i];
    C[i] = room[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    float* room;
    if (cudaMalloc(&room, 1ull << 40) != cudaSuccess) return;
    add<<<(N + 255) / 256, 256>>>(A, B, room, C, N);
    cudaFree(room);
}
