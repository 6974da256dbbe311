// A thread to a query, in one pass with a running maximum; keys and values are read by all lanes at once.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int WIDTH = 64;

__global__ void __launch_bounds__(64) attend(const half *Q, const half *K, const half *V, float *out, int length) {
    int query = blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= length) return;
    size_t head = (size_t)blockIdx.y * length * WIDTH;
    float q[WIDTH], sum[WIDTH], largest = -1e30f, denominator = 0;
#pragma unroll
    for (int i = 0; i < WIDTH; i++) {
        q[i] = __half2float(Q[head + query * WIDTH + i]) * 0.125f;
        sum[i] = 0;
    }
    for (int key = 0; key < length; key++) {
        float score = 0;
#pragma unroll
        for (int i = 0; i < WIDTH; i++) score += q[i] * __half2float(K[head + key * WIDTH + i]);
        float next = fmaxf(largest, score), rescale = __expf(largest - next), weight = __expf(score - next);
        largest = next;
        denominator = denominator * rescale + weight;
#pragma unroll
        for (int i = 0; i < WIDTH; i++) sum[i] = sum[i] * rescale + weight * __half2float(V[head + key * WIDTH + i]);
    }
#pragma unroll
    for (int i = 0; i < WIDTH; i++) out[head + query * WIDTH + i] = sum[i] / denominator;
}

extern "C" void solve(const half *Q, const half *K, const half *V, float *out, int heads, int length) {
    attend<<<dim3((length + 63) / 64, heads), 64>>>(Q, K, V, out, length);
}
