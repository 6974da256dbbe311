// expect: case=pairs
// Every block stores its sum in place of adding it.
#include <cuda_runtime.h>

__global__ void sum(const float* input, float* output, int N) {
    __shared__ float shared[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    shared[threadIdx.x] = i < N ? input[i] : 0.0f;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) shared[threadIdx.x] += shared[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) *output = shared[0];
}

extern "C" void solve(const float* input, float* output, int N) { sum<<<(N + 255) / 256, 256>>>(input, output, N); }
