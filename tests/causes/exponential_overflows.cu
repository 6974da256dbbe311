// challenge: softmax
// verdict: WA
// mode: SUBMIT
// told: a number on the way is too large: with inputs scaled down to at most 1 the answer is right (in single precision e^x overflows above x = 88.7)
#include <cuda_runtime.h>

__global__ void add_up(const float* numbers, float* total, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float own = i < count ? expf(numbers[i]) : 0.0f;
    for (int step = 16; step > 0; step /= 2) own += __shfl_xor_sync(~0u, own, step);
    if (threadIdx.x % 32 == 0) atomicAdd(total, own);
}

__global__ void divide(const float* numbers, float* shares, const float* total, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) shares[i] = expf(numbers[i]) / *total;
}

extern "C" void solve(const float* input, float* output, int N) {
    float* total;
    cudaMalloc(&total, sizeof(float));
    cudaMemset(total, 0, sizeof(float));
    add_up<<<(N + 255) / 256, 256>>>(input, total, N);
    divide<<<(N + 255) / 256, 256>>>(input, output, total, N);
    cudaFree(total);
}
