// Maximum and sum in one pass: a thread scales its sum whenever its maximum rises. Blocks leave a pair each, and every
// block of the second launch combines all pairs before it divides.
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
    return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
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
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += gridDim.x * THREADS) pair = combine(pair, {input[i], 1.0f});
    pair = combine_block(pair);
    if (threadIdx.x == 0) pairs[blockIdx.x] = pair;
}

__global__ void divide(const float* input, float* output, int N) {
    Pair pair = {-FLT_MAX, 0.0f};
    for (int i = threadIdx.x; i < gridDim.x; i += THREADS) pair = combine(pair, pairs[i]);
    pair = combine_block(pair);
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += gridDim.x * THREADS)
        output[i] = expf(input[i] - pair.largest) / pair.sum;
}

extern "C" void solve(const float* input, float* output, int N) {
    int blocks = min((N + THREADS - 1) / THREADS, MOST_BLOCKS);
    reduce<<<blocks, THREADS>>>(input, N);
    divide<<<blocks, THREADS>>>(input, output, N);
}
