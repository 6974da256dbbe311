// expect: case=n-2203-c-70 cuda=WA,AC
// A block goes through several rows without a barrier between them: a warp that is ahead writes its sum of the next row before
// others have read that of this one.
#include <cuda_runtime.h>
#include <math.h>

// The largest of all, and the sum of exponentials of what they are less than it.
__device__ float2 merge(float2 a, float2 b) {
    float m = fmaxf(a.x, b.x);
    if (m == -INFINITY) return make_float2(m, 0.0f);
    return make_float2(m, a.y * expf(a.x - m) + b.y * expf(b.x - m));
}

__device__ float2 combine(float2 v) {
    __shared__ float2 of_warp[8];
    for (int mask = 16; mask > 0; mask /= 2) {
        v = merge(v, make_float2(__shfl_xor_sync(0xffffffffu, v.x, mask), __shfl_xor_sync(0xffffffffu, v.y, mask)));
    }
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = v;
    __syncthreads();
    v = of_warp[0];
    for (int w = 1; w < 8; w++) v = merge(v, of_warp[w]);
    return v;
}

__global__ void differentiate(const float* logits, const int* labels, float* losses, float* dlogits, int N, int C) {
    for (size_t n = blockIdx.x; n < N; n += gridDim.x) {
        const float* row = logits + n * C;
        float2 v = make_float2(-INFINITY, 0.0f);
        for (int c = threadIdx.x; c < C; c += 256) v = merge(v, make_float2(row[c], 1.0f));
        v = combine(v);
        for (int c = threadIdx.x; c < C; c += 256) dlogits[n * C + c] = (expf(row[c] - v.x) / v.y - (c == labels[n] ? 1.0f : 0.0f)) / N;
        if (threadIdx.x == 0) losses[n] = logf(v.y) + v.x - row[labels[n]];
    }
}

extern "C" void solve(const float* logits, const int* labels, float* losses, float* dlogits, int N, int C) {
    differentiate<<<min(N, 1056), 256>>>(logits, labels, losses, dlogits, N, C);
}
