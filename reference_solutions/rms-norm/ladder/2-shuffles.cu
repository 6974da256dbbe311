// The sum of a block by shuffles; only the eight sums of the warps go through shared memory.
#include <cuda_runtime.h>

__global__ void add_squares(const float* input, float* sum, int N) {
    __shared__ float of_warp[8];
    float mine = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) mine += input[i] * input[i];
    for (int mask = 16; mask > 0; mask /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, mask);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int w = 1; w < 8; w++) mine += of_warp[w];
    atomicAdd(sum, mine);
}

__global__ void scale(const float* input, const float* sum, float gamma, float beta, float* output, int N, float eps) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) output[i] = gamma * input[i] / sqrtf(*sum / N + eps) + beta;
}

extern "C" void solve(const float* input, float gamma, float beta, float* output, int N, float eps) {
    static float* sum = nullptr;
    if (sum == nullptr) cudaMalloc(&sum, sizeof(float));
    cudaMemset(sum, 0, sizeof(float));
    int blocks = (N + 255) / 256;
    add_squares<<<min(blocks, 1024), 256>>>(input, sum, N);
    scale<<<blocks, 256>>>(input, sum, gamma, beta, output, N, eps);
}
