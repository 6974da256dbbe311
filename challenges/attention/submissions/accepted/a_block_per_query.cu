// The scores of one query in dynamic shared memory; never synchronises.
#include <cuda_runtime.h>
#include <math.h>

__global__ void attend(const float* Q, const float* K, const float* V, float* output, int N, int d) {
    extern __shared__ float scores[];
    __shared__ float shared[128];
    const float* query = Q + (size_t)blockIdx.x * d;
    int t = threadIdx.x;
    float largest = -INFINITY;
    for (int j = t; j < N; j += blockDim.x) {
        float score = 0.0f;
        for (int k = 0; k < d; k++) score += query[k] * K[(size_t)j * d + k];
        scores[j] = score / sqrtf((float)d);
        largest = fmaxf(largest, scores[j]);
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
    for (int j = t; j < N; j += blockDim.x) {
        scores[j] = expf(scores[j] - largest);
        sum += scores[j];
    }
    shared[t] = sum;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride) shared[t] += shared[t + stride];
        __syncthreads();
    }
    for (int k = t; k < d; k += blockDim.x) {
        float value = 0.0f;
        for (int j = 0; j < N; j++) value += scores[j] * V[(size_t)j * d + k];
        output[(size_t)blockIdx.x * d + k] = value / shared[0];
    }
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) {
    int bytes = N * sizeof(float);
    cudaFuncSetAttribute(attend, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    attend<<<M, 128, bytes>>>(Q, K, V, output, N, d);
}
