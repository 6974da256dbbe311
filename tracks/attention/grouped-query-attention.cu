// A block of 128 threads per query: the scores of the keys that it sees go to shared memory, then their maximum, their
// exponentials and the sum of those, and last every thread makes some columns of the output.
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

__global__ void attend(const float* Q, const float* K, const float* V, float* output, int group, int N, int d) {
    extern __shared__ float score[];
    int i = blockIdx.x;
    int first = 0, end = N, stride = d;
    size_t head = (size_t)blockIdx.y * N * d, shared_head = (size_t)(blockIdx.y / group) * N * d;
    Q += head, output += head, K += shared_head, V += shared_head;
    const float* q = Q + (size_t)i * stride;
    float largest = -INFINITY;
    for (int j = first + threadIdx.x; j < end; j += THREADS) {
        float sum = 0.0f;
        for (int t = 0; t < d; t++) sum += q[t] * K[(size_t)j * stride + t];
        sum = sum / sqrtf((float)d);
        score[j - first] = sum;
        largest = fmaxf(largest, sum);
    }
    largest = combine(largest, false);
    float total = 0.0f;
    for (int j = first + threadIdx.x; j < end; j += THREADS) {
        score[j - first] = expf(score[j - first] - largest);
        total += score[j - first];
    }
    total = combine(total, true);
    for (int t = threadIdx.x; t < d; t += THREADS) {
        float sum = 0.0f;
        for (int j = first; j < end; j++) sum += score[j - first] * V[(size_t)j * stride + t];
        output[(size_t)i * stride + t] = sum / total;
    }
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int num_q_heads, int num_kv_heads, int seq_len, int head_dim) {
    attend<<<dim3(seq_len, num_q_heads), THREADS, sizeof(float) * (seq_len)>>>(Q, K, V, output, num_q_heads / num_kv_heads, seq_len, head_dim);
}
