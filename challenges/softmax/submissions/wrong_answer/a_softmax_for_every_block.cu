// expect: case=pairs
// Each block of 256 makes a softmax of its own elements.
#include <cuda_runtime.h>
#include <math.h>

__device__ float block_max(float value, float* shared) {
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + stride]);
        __syncthreads();
    }
    value = shared[0];
    __syncthreads();
    return value;
}

__device__ float block_sum(float value, float* shared) {
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) shared[threadIdx.x] += shared[threadIdx.x + stride];
        __syncthreads();
    }
    value = shared[0];
    __syncthreads();
    return value;
}

__global__ void softmax(const float* input, float* output, int N) {
    __shared__ float shared[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i < N ? input[i] : -INFINITY;
    float largest = block_max(x, shared);
    float weight = expf(x - largest);
    float sum = block_sum(weight, shared);
    if (i < N) output[i] = weight / sum;
}

extern "C" void solve(const float* input, float* output, int N) { softmax<<<(N + 255) / 256, 256>>>(input, output, N); }
