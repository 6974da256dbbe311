// A block of threads for each head of each sequence: scores into scratch memory, their maximum, exponentials and their sum; last, every
// thread makes some of the output's elements.
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

__global__ void decode(const float* Q, const float* K, const float* V, const int* table, const int* lengths, float* output, float* scratch,
                       int heads, int kv_heads, int d, int block_size, int max_blocks) {
    size_t h = blockIdx.x, s = blockIdx.y, kv = h / (heads / kv_heads);
    int length = lengths[s];
    const float* q = Q + (s * heads + h) * d;
    float* score = scratch + (s * heads + h) * max_blocks * block_size;
    auto place = [&](int t) {
        size_t block = table[s * max_blocks + t / block_size];
        return ((block * block_size + t % block_size) * kv_heads + kv) * d;
    };
    float largest = -INFINITY;
    for (int t = threadIdx.x; t < length; t += THREADS) {
        const float* key = K + place(t);
        float sum = 0.0f;
        for (int i = 0; i < d; i++) sum += q[i] * key[i];
        score[t] = sum / sqrtf((float)d);
        largest = fmaxf(largest, score[t]);
    }
    largest = combine(largest, false);
    float total = 0.0f;
    for (int t = threadIdx.x; t < length; t += THREADS) {
        score[t] = expf(score[t] - largest);
        total += score[t];
    }
    total = combine(total, true);
    for (int i = threadIdx.x; i < d; i += THREADS) {
        float sum = 0.0f;
        for (int t = 0; t < length; t++) sum += score[t] * V[place(t) + i];
        output[(s * heads + h) * d + i] = sum / total;
    }
}

extern "C" void solve(const float* Q, const float* K_cache, const float* V_cache, const int* block_table, const int* lengths, float* output,
                      int num_seqs, int num_heads, int num_kv_heads, int head_dim, int block_size, int max_blocks) {
    float* scratch;
    cudaMalloc(&scratch, sizeof(float) * num_seqs * num_heads * max_blocks * block_size);
    decode<<<dim3(num_heads, num_seqs), THREADS>>>(Q, K_cache, V_cache, block_table, lengths, output, scratch, num_heads, num_kv_heads,
                                                   head_dim, block_size, max_blocks);
    cudaFree(scratch);
}
