// As many blocks as fit the GPU at once walk over all elements by 16-byte loads past the caches, two vectors of each array
// under way per thread; sums meet by shuffles, and a block does one atomic.
#include <cuda_runtime.h>

constexpr int THREADS = 512;

__device__ float term(float advantage, float log_pi, float log_pi_old, float low, float high) {
    float r = __expf(log_pi - log_pi_old);
    return fminf(r * advantage, fminf(fmaxf(r, low), high) * advantage);
}

__global__ void __launch_bounds__(THREADS) ppo(const float4* __restrict__ advantages, const float4* __restrict__ log_pi,
                                               const float4* __restrict__ log_pi_old, float* __restrict__ output, float eps, int count) {
    float low = 1.0f - eps, high = 1.0f + eps, sum = 0.0f;
    int quads = count / 4;
#pragma unroll 2
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < quads; i += gridDim.x * THREADS) {
        float4 a = __ldcs(advantages + i), p = __ldcs(log_pi + i), q = __ldcs(log_pi_old + i);
        sum += (term(a.x, p.x, q.x, low, high) + term(a.y, p.y, q.y, low, high)) + (term(a.z, p.z, q.z, low, high) + term(a.w, p.w, q.w, low, high));
    }
    if (blockIdx.x == 0 && threadIdx.x < count % 4) {
        int i = quads * 4 + threadIdx.x;
        sum += term(reinterpret_cast<const float*>(advantages)[i], reinterpret_cast<const float*>(log_pi)[i],
                    reinterpret_cast<const float*>(log_pi_old)[i], low, high);
    }
    __shared__ float warps[THREADS / 32];
    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = threadIdx.x < THREADS / 32 ? warps[threadIdx.x] : 0.0f;
    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    if (threadIdx.x == 0) atomicAdd(output, -sum / count);
}

extern "C" void solve(const float* advantages, const float* log_pi, const float* log_pi_old, float* output, float clip_eps, int B, int S) {
    int count = B * S, device = 0, multiprocessors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    cudaMemsetAsync(output, 0, sizeof(float));
    int blocks = max(1, min(multiprocessors * 4, (count / 4 + THREADS - 1) / THREADS));
    ppo<<<blocks, THREADS>>>(reinterpret_cast<const float4*>(advantages), reinterpret_cast<const float4*>(log_pi),
                             reinterpret_cast<const float4*>(log_pi_old), output, clip_eps, count);
}
