// Three passes by one block: the maximum, the sum of the exponentials, the division. Right, and slow for long vectors.
#include <cuda_runtime.h>
#include <math.h>

__global__ void softmax(const float* input, float* output, int N) {
    __shared__ float shared[1024];
    int t = threadIdx.x;

    float largest = -INFINITY;
    for (int i = t; i < N; i += blockDim.x) largest = fmaxf(largest, input[i]);
    shared[t] = largest;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride) shared[t] = fmaxf(shared[t], shared[t + stride]);
        __syncthreads();
    }
    largest = shared[0];
    __syncthreads();

    float sum = 0.0f;
    for (int i = t; i < N; i += blockDim.x) sum += expf(input[i] - largest);
    shared[t] = sum;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride) shared[t] += shared[t + stride];
        __syncthreads();
    }
    sum = shared[0];

    for (int i = t; i < N; i += blockDim.x) output[i] = expf(input[i] - largest) / sum;
}

extern "C" void solve(const float* input, float* output, int N) {
    softmax<<<1, 1024>>>(input, output, N);
    cudaDeviceSynchronize();
}
