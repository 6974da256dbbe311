// A block for each head: scores go to scratch memory, then come the maximum, the exponentials and the values.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

constexpr int THREADS = 256;

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

// Element t of a row.
__device__ float element(const uint8_t* packed, const half* scale, const half* least, size_t row, int t, int d, int group) {
    uint8_t both = packed[row * (d / 2) + t / 2];
    size_t g = row * (d / group) + t / group;
    return __half2float(scale[g]) * (t % 2 ? both >> 4 : both & 15) + __half2float(least[g]);
}

__global__ void decode(const float* Q, const uint8_t* K, const uint8_t* V, const half* k_scale, const half* k_min, const half* v_scale,
                       const half* v_min, float* output, float* scratch, int length, int d, int group) {
    size_t head = blockIdx.x, first = head * length;
    const float* q = Q + head * d;
    float* score = scratch + first;
    float largest = -INFINITY;
    for (int s = threadIdx.x; s < length; s += THREADS) {
        float sum = 0.0f;
        for (int t = 0; t < d; t++) sum += q[t] * element(K, k_scale, k_min, first + s, t, d, group);
        score[s] = sum / sqrtf((float)d);
        largest = fmaxf(largest, score[s]);
    }
    largest = combine(largest, false);
    float total = 0.0f;
    for (int s = threadIdx.x; s < length; s += THREADS) {
        score[s] = expf(score[s] - largest);
        total += score[s];
    }
    total = combine(total, true);
    for (int t = threadIdx.x; t < d; t += THREADS) {
        float sum = 0.0f;
        for (int s = 0; s < length; s++) sum += score[s] * element(V, v_scale, v_min, first + s, t, d, group);
        output[head * d + t] = sum / total;
    }
}

extern "C" void solve(const float* Q, const uint8_t* K4, const uint8_t* V4, const half* k_scale, const half* k_min, const half* v_scale,
                      const half* v_min, float* output, int num_heads, int seq_len, int head_dim, int group) {
    float* scratch;
    cudaMalloc(&scratch, sizeof(float) * num_heads * seq_len);
    decode<<<num_heads, THREADS>>>(Q, K4, V4, k_scale, k_min, v_scale, v_min, output, scratch, seq_len, head_dim, group);
    cudaFree(scratch);
}
