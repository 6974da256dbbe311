// A block for each head of each sequence: scores into scratch memory, their maximum, exponentials and their sum; last, every thread makes
// some of the output's elements.
#include <cuda_runtime.h>
#include <math.h>

constexpr int THREADS = 128;

__device__ float combine(float value, bool sum) {
    __shared__ float shared[THREADS];
    int t = threadIdx.x;
    shared[t] = value;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (t < stride) shared[t] = sum ? shared[t] + shared[t + stride] : fmaxf(shared[t], shared[t + stride]);
        __syncthreads();
    }
    value = shared[0];
    __syncthreads();
    return value;
}

__global__ void decode(const float* q_latent, const float* q_rope, const float* kv_latent, const float* k_rope, float* output, float* scratch,
                       int length, int latent, int rope, float scale) {
    size_t head = (size_t)blockIdx.y * gridDim.x + blockIdx.x;
    const float* cache = kv_latent + (size_t)blockIdx.y * length * latent;
    const float* positions = k_rope + (size_t)blockIdx.y * length * rope;
    float* score = scratch + head * length;
    float largest = -INFINITY;
    for (int s = threadIdx.x; s < length; s += THREADS) {
        float sum = 0.0f;
        for (int i = 0; i < latent; i++) sum += q_latent[head * latent + i] * cache[(size_t)s * latent + i];
        for (int i = 0; i < rope; i++) sum += q_rope[head * rope + i] * positions[(size_t)s * rope + i];
        score[s] = sum * scale;
        largest = fmaxf(largest, score[s]);
    }
    largest = combine(largest, false);
    float total = 0.0f;
    for (int s = threadIdx.x; s < length; s += THREADS) {
        score[s] = expf(score[s] - largest);
        total += score[s];
    }
    total = combine(total, true);
    for (int i = threadIdx.x; i < latent; i += THREADS) {
        float sum = 0.0f;
        for (int s = 0; s < length; s++) sum += score[s] * cache[(size_t)s * latent + i];
        output[head * latent + i] = sum / total;
    }
}

extern "C" void solve(const float* q_latent, const float* q_rope, const float* kv_latent, const float* k_rope, float* output, int batch,
                      int num_heads, int seq_len, int latent_dim, int rope_dim, float scale) {
    float* scratch;
    cudaMalloc(&scratch, sizeof(float) * batch * num_heads * seq_len);
    decode<<<dim3(num_heads, batch), THREADS>>>(q_latent, q_rope, kv_latent, k_rope, output, scratch, seq_len, latent_dim, rope_dim, scale);
    cudaFree(scratch);
}
