#include <cuda_runtime.h>

// What the honest kernel of this challenge does.
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

static void launch_sum(const float* input, float* output, int N, cudaStream_t stream = 0) {
    if (N > 0) sum<<<(N + 255) / 256, 256, 0, stream>>>(input, output, N);
}
