// challenge: range-sum
// verdict: WA
// mode: SUBMIT
// told: a float becomes an integer on line 24: beyond 2^24
// Blocks add up in integers, but all of them in one float.
#include <cuda_runtime.h>

__global__ void add(const int* input, float* total, int first, int end) {
    __shared__ int part;
    if (threadIdx.x == 0) part = 0;
    __syncthreads();
    int sum = 0;
    for (int i = first + blockIdx.x * blockDim.x + threadIdx.x; i < end; i += gridDim.x * blockDim.x) {
        sum += input[i];
    }
    atomicAdd(&part, sum);
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(total, (float)part);
    }
}

__global__ void convert(const float* total, int* output) {
    *output = (int)*total;
}

extern "C" void solve(const int* input, int* output, int N, int S, int E) {
    float* total;
    cudaMalloc(&total, sizeof(float));
    cudaMemset(total, 0, sizeof(float));
    add<<<37, 128>>>(input, total, S, E + 1);
    convert<<<1, 1>>>(total, output);
    cudaFree(total);
}
