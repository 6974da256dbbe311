// expect: case=hot-bin-beyond-16-bits
// Each block counts in 16 bits, two bins a word: a block that meets one value more than 65,535 times carries into the next.
#include <cuda_runtime.h>

__global__ void count(const int* input, int* histogram, int n, int bins) {
    __shared__ unsigned pairs[512];
    for (int i = threadIdx.x; i < 512; i += blockDim.x) pairs[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&pairs[input[i] / 2], input[i] % 2 ? 65536u : 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < bins; i += blockDim.x) {
        unsigned here = pairs[i / 2] >> (i % 2 * 16) & 65535u;
        if (here) atomicAdd(&histogram[i], (int)here);
    }
}

extern "C" void solve(const int* input, int* histogram, int N, int num_bins) { count<<<16, 256>>>(input, histogram, N, num_bins); }
