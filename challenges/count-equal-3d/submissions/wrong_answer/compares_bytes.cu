// expect: case=large-values
// Compares the lowest byte alone.
#include <cuda_runtime.h>

__global__ void count(const int *input, int *output, int n, unsigned char wanted) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int found = __syncthreads_count(i < n && (unsigned char)input[i] == wanted);
    if (threadIdx.x == 0) atomicAdd(output, found);
}

extern "C" void solve(const int *input, int *output, int N, int M, int K, int P) {
    int n = N * M * K;
    count<<<(n + 255) / 256, 256>>>(input, output, n, (unsigned char)P);
}
