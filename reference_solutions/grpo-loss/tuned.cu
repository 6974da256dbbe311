// A block per piece of 4,096 tokens of an answer. The lanes of every warp find the advantage of its group by shuffles (a
// group has at most 32 answers), then read by 16 bytes past the caches; sums meet by shuffles, one atomic per block.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int PIECE = 4096;

__device__ float warp_sum(float value) {
    for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffffu, value, mask);
    return value;
}

__device__ float term(float new_log, float old_log, float ref_log, float a, float low, float high, float beta) {
    float r = __expf(new_log - old_log), d = ref_log - new_log;
    return fminf(r * a, fminf(fmaxf(r, low), high) * a) - beta * (__expf(d) - d - 1.0f);
}

__global__ void __launch_bounds__(THREADS) grpo(const float* __restrict__ rewards, const float* __restrict__ log_pi,
                                                const float* __restrict__ log_pi_old, const float* __restrict__ log_ref,
                                                float* __restrict__ output, float eps, float beta, int G, int S) {
    int answer = blockIdx.y, lane = threadIdx.x % 32;
    float reward = lane < G ? rewards[answer / G * G + lane] : 0.0f;
    float mean = warp_sum(reward) / G;
    float away = lane < G ? reward - mean : 0.0f;
    float deviation = sqrtf(warp_sum(away * away) / G);
    float a = __shfl_sync(0xffffffffu, away, answer % G) / (deviation + 1e-8f);
    float low = 1.0f - eps, high = 1.0f + eps, sum = 0.0f;
    size_t row = (size_t)answer * S;
    int first = blockIdx.x * PIECE, end = min(S, first + PIECE);
    if (S % 4 == 0) {
#pragma unroll 2
        for (int s = first + threadIdx.x * 4; s < end; s += THREADS * 4) {
            float4 p = __ldcs(reinterpret_cast<const float4*>(log_pi + row + s)), q = __ldcs(reinterpret_cast<const float4*>(log_pi_old + row + s));
            float4 f = __ldcs(reinterpret_cast<const float4*>(log_ref + row + s));
            sum += (term(p.x, q.x, f.x, a, low, high, beta) + term(p.y, q.y, f.y, a, low, high, beta)) +
                   (term(p.z, q.z, f.z, a, low, high, beta) + term(p.w, q.w, f.w, a, low, high, beta));
        }
    } else {
        for (int s = first + threadIdx.x; s < end; s += THREADS) sum += term(log_pi[row + s], log_pi_old[row + s], log_ref[row + s], a, low, high, beta);
    }
    __shared__ float warps[THREADS / 32];
    sum = warp_sum(sum);
    if (lane == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = warp_sum(lane < THREADS / 32 ? warps[lane] : 0.0f);
    if (lane == 0) atomicAdd(output, -sum / ((float)gridDim.y * S));
}

extern "C" void solve(const float* rewards, const float* log_pi, const float* log_pi_old, const float* log_ref, float* output,
                      float clip_eps, float beta, int B, int G, int S) {
    cudaMemsetAsync(output, 0, sizeof(float));
    grpo<<<dim3((S + PIECE - 1) / PIECE, B * G), THREADS>>>(rewards, log_pi, log_pi_old, log_ref, output, clip_eps, beta, G, S);
}
