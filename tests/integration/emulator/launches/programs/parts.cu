// Kernels, functions and variables of other files: parts_other.cu.
#include <cstdio>

#include "parts.cuh"

static __device__ int own(int value) { return value + 1; }  // the other file has one of the same name

__global__ void start(int *values, int count) {
    for (int i = 0; i < count; ++i) values[i] = own(scaled(i));
    scale_all<<<1, count>>>(values, count);
}

int main() {
    constexpr int count = 8;
    int *values, three = 3, results[count];
    cudaMalloc(&values, sizeof results);
    cudaMemcpyToSymbol(scale, &three, sizeof three);
    start<<<1, 1>>>(values, count);
    cudaMemcpy(results, values, sizeof results, cudaMemcpyDeviceToHost);
    for (int result : results) printf("%d ", result);
    puts(cudaGetErrorName(cudaDeviceSynchronize()));
    cudaFree(values);
}
