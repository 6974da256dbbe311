// A block for each head: scores go to scratch memory, then come the maximum, the exponentials and the values.
#include <cstdint>
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

__global__ void decode(const float* Q, const int8_t* K, const int8_t* V, const float* k_scale, const float* v_scale, float* output,
                       float* scratch, int length, int d) {
    size_t head = blockIdx.x;
    const float* q = Q + head * d;
    float* score = scratch + head * length;
    float largest = -INFINITY;
    for (int s = threadIdx.x; s < length; s += THREADS) {
        float sum = 0.0f;
        for (int t = 0; t < d; t++) sum += q[t] * K[(head * length + s) * d + t];
        score[s] = sum * k_scale[head * length + s] / sqrtf((float)d);
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
        for (int s = 0; s < length; s++) sum += score[s] * v_scale[head * length + s] * V[(head * length + s) * d + t];
        output[head * d + t] = sum / total;
    }
}

extern "C" void solve(const float* Q, const int8_t* K_int8, const int8_t* V_int8, const float* k_scale, const float* v_scale, float* output,
                      int num_heads, int seq_len, int head_dim) {
    float* scratch;
    cudaMalloc(&scratch, sizeof(float) * num_heads * seq_len);
    decode<<<num_heads, THREADS>>>(Q, K_int8, V_int8, k_scale, v_scale, output, scratch, seq_len, head_dim);
    cudaFree(scratch);
}
