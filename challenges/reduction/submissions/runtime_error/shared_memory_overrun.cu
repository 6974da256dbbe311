// expect: verdict=RE,WA
// 256 threads, and room for 128 of them. What lies behind is another block's, or nobody's: a GPU may let it pass unseen.
#include <cuda_runtime.h>

__global__ void sum(const float* input, float* output, int N) {
    __shared__ float shared[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float* mine = shared + threadIdx.x * 64;
    *mine = i < N ? input[i] : 0.0f;
    __syncthreads();
    atomicAdd(output, *mine);
}

extern "C" void solve(const float* input, float* output, int N) { sum<<<(N + 255) / 256, 256>>>(input, output, N); }
