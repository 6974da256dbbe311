// expect: case=one-long-sequence
// Blocks for as many tokens of each sequence as eight times the mean length; a longer one's others get nothing.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int THREADS = 64, MOST = 128;

// A thread for each token of a sequence, with a running maximum.
__global__ void attend(const half* Q, const half* K, const half* V, const int* offsets, half* output, int heads, int d, int causal) {
    int first = offsets[blockIdx.y], last = offsets[blockIdx.y + 1], token = first + blockIdx.x * THREADS + threadIdx.x;
    if (token >= last) return;
    int head = blockIdx.z, end = causal ? token + 1 : last;
    size_t stride = (size_t)heads * d, at = token * stride + head * d;
    float sums[MOST] = {}, largest = -INFINITY, total = 0.0f;
    for (int key = first; key < end; key++) {
        const half *k = K + key * stride + head * d, *v = V + key * stride + head * d;
        float score = 0.0f;
        for (int i = 0; i < d; i++) score += __half2float(Q[at + i]) * __half2float(k[i]);
        score *= rsqrtf(d);
        float higher = fmaxf(largest, score), rescale = expf(largest - higher), weight = expf(score - higher);
        largest = higher;
        total = total * rescale + weight;
        for (int i = 0; i < d; i++) sums[i] = sums[i] * rescale + weight * __half2float(v[i]);
    }
    for (int i = 0; i < d; i++) output[at + i] = __float2half(sums[i] / total);
}

extern "C" void solve(const half* Q, const half* K, const half* V, const int* offsets, half* output, int total, int sequences, int heads,
                      int head_dim, int causal) {
    int mean = (total + sequences - 1) / sequences, blocks = (8 * mean + THREADS - 1) / THREADS;
    attend<<<dim3(blocks, sequences, heads), THREADS>>>(Q, K, V, offsets, output, heads, head_dim, causal);
}
