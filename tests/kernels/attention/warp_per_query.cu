// A warp to a query, two columns to a lane; a sum over the warp for each key.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int WIDTH = 64;

__global__ void attend(const half2 *Q, const half2 *K, const half2 *V, float2 *out, int length) {
    int lane = threadIdx.x % 32, query = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (query >= length) return;
    size_t head = (size_t)blockIdx.y * length * (WIDTH / 2);
    float2 q = __half22float2(Q[head + query * 32 + lane]), sum = make_float2(0, 0);
    float largest = -1e30f, denominator = 0;
    for (int key = 0; key < length; key++) {
        float2 k = __half22float2(K[head + key * 32 + lane]), v = __half22float2(V[head + key * 32 + lane]);
        float score = q.x * k.x + q.y * k.y;
#pragma unroll
        for (int mask = 16; mask; mask /= 2) score += __shfl_xor_sync(0xffffffff, score, mask);
        score *= 0.125f;
        float next = fmaxf(largest, score), rescale = __expf(largest - next), weight = __expf(score - next);
        largest = next;
        denominator = denominator * rescale + weight;
        sum.x = sum.x * rescale + weight * v.x;
        sum.y = sum.y * rescale + weight * v.y;
    }
    out[head + query * 32 + lane] = make_float2(sum.x / denominator, sum.y / denominator);
}

extern "C" void solve(const half *Q, const half *K, const half *V, float *out, int heads, int length) {
    attend<<<dim3((length + 3) / 4, heads), 128>>>((const half2 *)Q, (const half2 *)K, (const half2 *)V, (float2 *)out, length);
}
