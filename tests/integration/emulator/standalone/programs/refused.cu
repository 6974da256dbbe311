// Asks for what cannot be had: an instruction that does not exist, 100 GB, and a kernel without an end that nobody waits for.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

__global__ void store(int *cell) { *cell = 1; }
__global__ void strange(int *cell) {
    asm volatile("frobnicate.b32 %0, %0;" : "+r"(*cell));  // no instruction
}
__global__ void endless(volatile int *cell) {
    while (*cell == 0) {}  // for ever
}

int main(int, char **argv) {
    int *cell = nullptr;
    if (!strcmp(argv[1], "managed")) {
        char *much = nullptr;
        cudaError_t error = cudaMallocManaged(&much, 100ull << 30);
        puts(cudaGetErrorName(error));
        if (error) return 1;
        much[0] = much[99ull << 30] = 1;
        return cudaFree(much);
    }
    cudaMalloc(&cell, 4);
    cudaMemset(cell, 0, 4);
    if (!strcmp(argv[1], "endless")) {
        cudaStream_t stream;
        cudaStreamCreate(&stream);
        cudaDeviceSynchronize();
        endless<<<1, 1, 0, stream>>>(cell);
        puts("launched");
        return 0;
    }
    if (!strcmp(argv[1], "strange")) strange<<<1, 1>>>(cell);
    else store<<<1, 1>>>(cell);
    puts(cudaGetErrorName(cudaDeviceSynchronize()));
    return cudaFree(cell) != cudaSuccess;
}
