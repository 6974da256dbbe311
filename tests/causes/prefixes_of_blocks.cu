// challenge: prefix-sum
// verdict: WA
// mode: SUBMIT
// told: it is right with N = 1024 and wrong with 1025
#include <cuda_runtime.h>

__global__ void add_up(const float* input, float* output, int N) {
    __shared__ float sums[1024];
    int i = blockIdx.x * 1024 + threadIdx.x;
    sums[threadIdx.x] = i < N ? input[i] : 0.0f;
    __syncthreads();
    for (int back = 1; back < 1024; back *= 2) {
        float before = threadIdx.x >= back ? sums[threadIdx.x - back] : 0.0f;
        __syncthreads();
        sums[threadIdx.x] += before;
        __syncthreads();
    }
    if (i < N) output[i] = sums[threadIdx.x];
}

extern "C" void solve(const float* input, float* output, int N) { add_up<<<(N + 1023) / 1024, 1024>>>(input, output, N); }
