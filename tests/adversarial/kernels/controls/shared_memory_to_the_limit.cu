// idea: honest: asks for most of the shared memory, for the carve-out, and for events of its own to time itself
// challenge: softmax
// devices: emulator, cuda
// verdict: AC
// caught by: nothing
#include <cuda_runtime.h>

__global__ void softmax(const float* input, float* output, int N) {
    extern __shared__ float shared[];
    int t = threadIdx.x;
    float largest = -INFINITY, sum = 0.0f;
    for (int i = t; i < N; i += blockDim.x) largest = fmaxf(largest, input[i]);
    shared[t] = largest;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride) shared[t] = fmaxf(shared[t], shared[t + stride]);
        __syncthreads();
    }
    largest = shared[0];
    __syncthreads();
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
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaFuncSetAttribute(softmax, cudaFuncAttributeMaxDynamicSharedMemorySize, 96 << 10);
    cudaFuncSetAttribute(softmax, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
    cudaEventRecord(begin);
    softmax<<<1, 1024, 96 << 10>>>(input, output, N);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms;
    cudaEventElapsedTime(&ms, begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
}
