// One thread per element; each that finds the value adds one to the output, which is zero on entry.
#include <cuda_runtime.h>

__global__ void count(const int* input, int* output, int size, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size && input[i] == value) atomicAdd(output, 1);
}

extern "C" void solve(const int* input, int* output, int N, int M, int K) {
    int size = N * M;
    count<<<(size + 255) / 256, 256>>>(input, output, size, K);
}
