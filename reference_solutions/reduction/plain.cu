// The tree in shared memory: each block adds up 256 elements, one thread of it adds that to the result.
#include <cuda_runtime.h>

__global__ void sum(const float* input, float* output, int N) {
    __shared__ float partial[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[threadIdx.x] = i < N ? input[i] : 0.0f;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(output, partial[0]);
}

extern "C" void solve(const float* input, float* output, int N) {
    int threads = 256;
    int blocks = (N + threads - 1) / threads;
    sum<<<blocks, threads>>>(input, output, N);
    cudaDeviceSynchronize();
}
