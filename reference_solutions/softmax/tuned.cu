// Two launches. The first keeps, per thread, a running maximum and the sum of exponentials below it (scaled when the
// maximum rises), and leaves one such pair per block. In the second every block combines the pairs, and then writes its
// part of the output, the parts in reverse order: what the first launch read last may still be in the L2 cache.
#include <cfloat>
#include <cuda_runtime.h>

constexpr int THREADS = 512;
constexpr int WARPS = THREADS / 32;
constexpr int UNROLL = 4;
constexpr int BLOCKS_PER_MULTIPROCESSOR = 4;
constexpr int MOST_BLOCKS = 1024;

struct Pair {
    float maximum;
    float sum;
};

__device__ Pair pairs[MOST_BLOCKS];

// FLT_MAX stands for "nothing yet": an infinity would give inf - inf.
__device__ Pair nothing() { return {-FLT_MAX, 0.0f}; }

__device__ Pair combine(Pair a, Pair b) {
    float maximum = fmaxf(a.maximum, b.maximum);
    return {maximum, a.sum * __expf(a.maximum - maximum) + b.sum * __expf(b.maximum - maximum)};
}

__device__ Pair combine_block(Pair pair) {
    __shared__ Pair of_warp[WARPS];
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        Pair other = {__shfl_xor_sync(0xffffffffu, pair.maximum, offset), __shfl_xor_sync(0xffffffffu, pair.sum, offset)};
        pair = combine(pair, other);
    }
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = pair;
    __syncthreads();
    pair = threadIdx.x % 32 < WARPS ? of_warp[threadIdx.x % 32] : nothing();
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        Pair other = {__shfl_xor_sync(0xffffffffu, pair.maximum, offset), __shfl_xor_sync(0xffffffffu, pair.sum, offset)};
        pair = combine(pair, other);
    }
    return pair;
}

template <int COUNT>
__device__ Pair add_quads(Pair pair, const float4* quads) {
    float maximum = pair.maximum;
#pragma unroll
    for (int j = 0; j < COUNT; j++) {
        maximum = fmaxf(maximum, fmaxf(fmaxf(quads[j].x, quads[j].y), fmaxf(quads[j].z, quads[j].w)));
    }
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < COUNT; j++) {
        sum += (__expf(quads[j].x - maximum) + __expf(quads[j].y - maximum)) +
               (__expf(quads[j].z - maximum) + __expf(quads[j].w - maximum));
    }
    return {maximum, pair.sum * __expf(pair.maximum - maximum) + sum};
}

__global__ void __launch_bounds__(THREADS) reduce(const float* __restrict__ input, int N) {
    const float4* quads = reinterpret_cast<const float4*>(input);
    int count = N / 4;
    int stride = gridDim.x * THREADS;
    int i = blockIdx.x * THREADS + threadIdx.x;
    Pair pair = nothing();
    for (; i + (UNROLL - 1) * stride < count; i += UNROLL * stride) {
        float4 values[UNROLL];
#pragma unroll
        for (int j = 0; j < UNROLL; j++) values[j] = quads[i + j * stride];
        pair = add_quads<UNROLL>(pair, values);
    }
    for (; i < count; i += stride) {
        float4 value = quads[i];
        pair = add_quads<1>(pair, &value);
    }
    int tail = count * 4 + threadIdx.x;
    if (blockIdx.x == 0 && tail < N) pair = combine(pair, {input[tail], 1.0f});
    pair = combine_block(pair);
    if (threadIdx.x == 0) pairs[blockIdx.x] = pair;
}

__global__ void __launch_bounds__(THREADS) divide(const float* __restrict__ input, float* __restrict__ output, int N, int parts) {
    Pair pair = nothing();
    for (int i = threadIdx.x; i < parts; i += THREADS) pair = combine(pair, pairs[i]);
    pair = combine_block(pair);
    float maximum = pair.maximum;
    float factor = 1.0f / pair.sum;

    const float4* from = reinterpret_cast<const float4*>(input);
    float4* to = reinterpret_cast<float4*>(output);
    int count = N / 4;
    int stride = gridDim.x * THREADS;
    int last = count - 1 - (blockIdx.x * THREADS + threadIdx.x);
#pragma unroll 4
    for (int i = last; i >= 0; i -= stride) {
        float4 value = __ldcs(from + i);
        value.x = __expf(value.x - maximum) * factor;
        value.y = __expf(value.y - maximum) * factor;
        value.z = __expf(value.z - maximum) * factor;
        value.w = __expf(value.w - maximum) * factor;
        __stcs(to + i, value);
    }
    int tail = count * 4 + threadIdx.x;
    if (blockIdx.x == 0 && tail < N) output[tail] = __expf(input[tail] - maximum) * factor;
}

extern "C" void solve(const float* input, float* output, int N) {
    int device = 0, multiprocessors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    int most = min(multiprocessors * BLOCKS_PER_MULTIPROCESSOR, MOST_BLOCKS);
    int needed = (N / 4 + THREADS - 1) / THREADS;
    int blocks = max(1, min(needed, most));
    reduce<<<blocks, THREADS>>>(input, N);
    divide<<<blocks, THREADS>>>(input, output, N, blocks);
}
