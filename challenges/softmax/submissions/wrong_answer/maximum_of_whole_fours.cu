// expect: case=rising
// Takes the maximum over whole groups of four alone. What stands behind them may be larger by more than exp can take.
#include <cuda_runtime.h>

__global__ void softmax(const float* input, float* output, int N) {
    __shared__ float part[1024];
    int whole = N < 4 ? N : N / 4 * 4;
    float top = input[0];
    for (int i = threadIdx.x; i < whole; i += blockDim.x) top = fmaxf(top, input[i]);
    part[threadIdx.x] = top;
    for (int half = 512; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
    }
    __syncthreads();
    top = part[0];
    __syncthreads();
    float sum = 0;
    for (int i = threadIdx.x; i < N; i += blockDim.x) sum += expf(input[i] - top);
    part[threadIdx.x] = sum;
    for (int half = 512; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < N; i += blockDim.x) output[i] = expf(input[i] - top) / part[0];
}

extern "C" void solve(const float* input, float* output, int N) { softmax<<<1, 1024>>>(input, output, N); }
