#include <cuda_runtime.h>

// What a hostile kernel does besides: when it begins, and in each round of each loop over the input.
#ifndef AT_FIRST
#define AT_FIRST
#endif
#ifndef EACH_ROUND
#define EACH_ROUND
#endif

// What the honest kernel of this challenge does.
__global__ void softmax(const float* input, float* output, int N) {
    __shared__ float shared[1024];
    int t = threadIdx.x;
    AT_FIRST
    float largest = -INFINITY;
    for (int i = t; i < N; i += blockDim.x) {
        EACH_ROUND
        largest = fmaxf(largest, input[i]);
    }
    shared[t] = largest;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride) shared[t] = fmaxf(shared[t], shared[t + stride]);
        __syncthreads();
    }
    largest = shared[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = t; i < N; i += blockDim.x) {
        EACH_ROUND
        sum += expf(input[i] - largest);
    }
    shared[t] = sum;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride) shared[t] += shared[t + stride];
        __syncthreads();
    }
    sum = shared[0];
    for (int i = t; i < N; i += blockDim.x) {
        EACH_ROUND
        output[i] = expf(input[i] - largest) / sum;
    }
}

static void launch_softmax(const float* input, float* output, int N, cudaStream_t stream = 0) {
    softmax<<<1, 1024, 0, stream>>>(input, output, N);
}
