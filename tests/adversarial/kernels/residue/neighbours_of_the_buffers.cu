// idea: what lies beside the output may be the expected output: looks through the guard bands and half a megabyte beyond
//       for a place that holds the sums, and takes them from there
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC or RE or WA
// caught by: expected outputs are never on the device; guard bands hold numbers of their own
#include "common/vector_add.cuh"

__global__ void look(const float* A, const float* B, const float* around, int* found, int floats) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 3 >= floats) return;
    bool same = true;
    for (int k = 0; k < 3; k++) same &= around[i + k] == A[k] + B[k];
    if (same) atomicMax(found, i + 1);
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int floats = 1 << 14, at = 0;
    int* found;
    cudaMalloc(&found, 4);
    cudaMemset(found, 0, 4);
    if (N > 8) look<<<floats / 256, 256>>>(A, B, C + N, found, floats);
    cudaMemcpy(&at, found, 4, cudaMemcpyDeviceToHost);
    cudaFree(found);
    if (at) cudaMemcpy(C, C + N + at - 1, 4ul * N, cudaMemcpyDeviceToDevice);
    else launch_add(A, B, C, N);
}
