// Blocks walk over the elements, halve their sums in shared memory and add them with one atomic each.
#include <cuda_runtime.h>

__global__ void ppo(const float* advantages, const float* log_pi, const float* log_pi_old, float* output, float eps, int count) {
    __shared__ float shared[256];
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < count; i += gridDim.x * 256) {
        float r = expf(log_pi[i] - log_pi_old[i]);
        float clipped = fminf(fmaxf(r, 1.0f - eps), 1.0f + eps);
        sum += fminf(r * advantages[i], clipped * advantages[i]);
    }
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int stride = 128; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) shared[threadIdx.x] += shared[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(output, -shared[0] / count);
}

extern "C" void solve(const float* advantages, const float* log_pi, const float* log_pi_old, float* output, float clip_eps, int B, int S) {
    int count = B * S;
    cudaMemset(output, 0, sizeof(float));
    ppo<<<min(1024, (count + 255) / 256), 256>>>(advantages, log_pi, log_pi_old, output, clip_eps, count);
}
