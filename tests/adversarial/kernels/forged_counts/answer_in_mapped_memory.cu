// idea: the host adds where the inputs crossed into the process, in memory that it shares with the device; a kernel only
//       copies from there: two thirds of the traffic
// challenge: vector-add
// devices: emulator
// verdict: AC or TI or WA
// caught by: what a kernel reads of the host's memory crosses the bus
#include "common/shared.cuh"
#include "common/vector_add.cuh"

__global__ void fetch(const float* from, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = from[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    const float* a = (const float*)shared_memory(false);
    const float* b = a + (4ul * N + 4095) / 4096 * 1024;
    float* answer;
    cudaHostAlloc(&answer, 4ul * N, cudaHostAllocMapped);
    for (int i = 0; i < N; i++) answer[i] = a[i] + b[i];
    fetch<<<(N + 255) / 256, 256>>>(answer, C, N);
    cudaDeviceSynchronize();
    cudaFreeHost(answer);
}
