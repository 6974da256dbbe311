// A block to a row, 16 bytes to a load, maximum and sum together in one pass; pairs of them are combined by shuffles.
#include <cuda_runtime.h>
#include <float.h>

struct Pair {
    float largest, sum;
};

__device__ Pair combine(Pair a, Pair b) {
    float largest = fmaxf(a.largest, b.largest);
    return {largest, a.sum * __expf(a.largest - largest) + b.sum * __expf(b.largest - largest)};
}

__device__ Pair combine_warp(Pair pair) {
#pragma unroll
    for (int mask = 16; mask; mask /= 2) {
        pair = combine(pair, {__shfl_xor_sync(0xffffffff, pair.largest, mask), __shfl_xor_sync(0xffffffff, pair.sum, mask)});
    }
    return pair;
}

// columns is a multiple of four.
__global__ void __launch_bounds__(256) softmax(const float4 *__restrict__ in, float4 *__restrict__ out, int quads) {
    __shared__ Pair of_warp[8];
    in += (size_t)blockIdx.x * quads;
    out += (size_t)blockIdx.x * quads;
    Pair pair = {-FLT_MAX, 0};
    for (int i = threadIdx.x; i < quads; i += 256) {
        float4 v = in[i];
        float largest = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
        float sum = __expf(v.x - largest) + __expf(v.y - largest) + __expf(v.z - largest) + __expf(v.w - largest);
        pair = combine(pair, {largest, sum});
    }
    pair = combine_warp(pair);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = pair;
    __syncthreads();
    pair = combine_warp(threadIdx.x % 32 < 8 ? of_warp[threadIdx.x % 32] : Pair{-FLT_MAX, 0});
    float factor = 1 / pair.sum;
    for (int i = threadIdx.x; i < quads; i += 256) {
        float4 v = in[i];
        v.x = __expf(v.x - pair.largest) * factor;
        v.y = __expf(v.y - pair.largest) * factor;
        v.z = __expf(v.z - pair.largest) * factor;
        v.w = __expf(v.w - pair.largest) * factor;
        out[i] = v;
    }
}

extern "C" void solve(const float *in, float *out, int rows, int columns) {
    softmax<<<rows, 256>>>((const float4 *)in, (float4 *)out, columns / 4);
}
