// Loads of 16 bytes: the maximum of four values rises at most once, so five exponentials serve four values, not eight.
// The exponentials are the GPU's own, and the division becomes a product.
#include <cfloat>
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int MOST_BLOCKS = 512;

struct Pair {
    float largest, sum;
};

__device__ Pair pairs[MOST_BLOCKS];

__device__ Pair combine(Pair a, Pair b) {
    float largest = fmaxf(a.largest, b.largest);
    return {largest, a.sum * __expf(a.largest - largest) + b.sum * __expf(b.largest - largest)};
}

__device__ Pair combine_block(Pair pair) {
    __shared__ Pair shared[THREADS];
    int t = threadIdx.x;
    shared[t] = pair;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) shared[t] = combine(shared[t], shared[t + half]);
        __syncthreads();
    }
    return shared[0];
}

__global__ void reduce(const float* input, int N) {
    // -FLT_MAX stands for "nothing yet": an infinity would give inf - inf.
    Pair pair = {-FLT_MAX, 0.0f};
    int first = blockIdx.x * THREADS + threadIdx.x, stride = gridDim.x * THREADS;
    const float4* quads = reinterpret_cast<const float4*>(input);
    for (int i = first; i < N / 4; i += stride) {
        float4 v = quads[i];
        float largest = fmaxf(pair.largest, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
        float sum = (__expf(v.x - largest) + __expf(v.y - largest)) + (__expf(v.z - largest) + __expf(v.w - largest));
        pair = {largest, pair.sum * __expf(pair.largest - largest) + sum};
    }
    if (first < N % 4) pair = combine(pair, {input[N / 4 * 4 + first], 1.0f});
    pair = combine_block(pair);
    if (threadIdx.x == 0) pairs[blockIdx.x] = pair;
}

__global__ void divide(const float* input, float* output, int N) {
    Pair pair = {-FLT_MAX, 0.0f};
    for (int i = threadIdx.x; i < gridDim.x; i += THREADS) pair = combine(pair, pairs[i]);
    pair = combine_block(pair);
    float largest = pair.largest, factor = 1.0f / pair.sum;
    int first = blockIdx.x * THREADS + threadIdx.x, stride = gridDim.x * THREADS;
    const float4* from = reinterpret_cast<const float4*>(input);
    float4* to = reinterpret_cast<float4*>(output);
    for (int i = first; i < N / 4; i += stride) {
        float4 v = from[i];
        to[i] = make_float4(__expf(v.x - largest) * factor, __expf(v.y - largest) * factor, __expf(v.z - largest) * factor,
                            __expf(v.w - largest) * factor);
    }
    if (first < N % 4) output[N / 4 * 4 + first] = __expf(input[N / 4 * 4 + first] - largest) * factor;
}

extern "C" void solve(const float* input, float* output, int N) {
    int blocks = min(N / 4 / THREADS + 1, MOST_BLOCKS);
    reduce<<<blocks, THREADS>>>(input, N);
    divide<<<blocks, THREADS>>>(input, output, N);
}
