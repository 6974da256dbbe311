// Each block adds up 256 elements of the range in shared memory, as a tree, and adds its sum to the output, which is zero on
// entry.
#include <cuda_runtime.h>

__global__ void sum_range(const int* range, int* output, int count) {
    __shared__ int part[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = i < count ? range[i] : 0;
    for (int distance = 128; distance > 0; distance /= 2) {
        __syncthreads();
        if (threadIdx.x < distance) part[threadIdx.x] += part[threadIdx.x + distance];
    }
    if (threadIdx.x == 0) atomicAdd(output, part[0]);
}

extern "C" void solve(const int* input, int* output, int N, int S, int E) {
    int count = E - S + 1;
    sum_range<<<(count + 255) / 256, 256>>>(input + S, output, count);
}
