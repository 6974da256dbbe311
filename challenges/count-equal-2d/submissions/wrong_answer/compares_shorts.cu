// expect: case=large-values
// Compares the low 16 bits alone.
#include <cuda_runtime.h>

__global__ void count(const int *input, int *output, int n, short wanted) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int found = __syncthreads_count(i < n && (short)input[i] == wanted);
    if (threadIdx.x == 0) atomicAdd(output, found);
}

extern "C" void solve(const int *input, int *output, int N, int M, int K) {
    int n = N * M;
    count<<<(n + 255) / 256, 256>>>(input, output, n, (short)K);
}
