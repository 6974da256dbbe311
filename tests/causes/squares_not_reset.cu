// challenge: rms-norm
// verdict: WA
// mode: SUBMIT
// told: the same call is right in a new process: what earlier calls left there
#include <cuda_runtime.h>

__device__ double squares;

__global__ void add(const float* input, int n) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += input[i] * input[i];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd(&squares, (double)sum);
}

__global__ void scale(const float* input, float gamma, float beta, float* output, int n, float eps) {
    float factor = gamma * rsqrtf((float)(squares / n) + eps);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        output[i] = input[i] * factor + beta;
}

extern "C" void solve(const float* input, float gamma, float beta, float* output, int N, float eps) {
    add<<<64, 256>>>(input, N);
    scale<<<64, 256>>>(input, gamma, beta, output, N, eps);
}
