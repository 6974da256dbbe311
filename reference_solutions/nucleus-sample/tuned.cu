// The least logit of the nucleus is found 11 bits at a time: a histogram in shared memory adds up the exponentials of all logits whose
// leading bits are those found so far. After three passes stretches of the nucleus are added up, and one block scans the stretch that
// the random number lies in. 16-byte loads.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int BINS = 2048;
constexpr int MAX_BLOCKS = 1056;
constexpr int STRETCH = 4 * THREADS;

struct State {
    unsigned largest, prefix;
    float total, above;
    float bins[3][BINS];
    float sums[MAX_BLOCKS];
};

__device__ State state;

__device__ unsigned key_of(float x) {
    unsigned bits = __float_as_uint(x);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ float value_of(unsigned key) { return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key); }

// Calls `f(value)` for the logits of a block's stretches, each thread four at a time.
template <class F>
__device__ void for_each(const float* logits, int n, int first, int end, F f) {
    for (int i = first + 4 * threadIdx.x; i < end; i += STRETCH) {
        if (i + 4 <= n) {
            float4 four = *reinterpret_cast<const float4*>(logits + i);
            f(four.x);
            f(four.y);
            f(four.z);
            f(four.w);
        } else {
            for (int j = i; j < n; j++) f(logits[j]);
        }
    }
}

// The logits of a block: neighbours, in whole stretches.
__device__ int2 range_of(int n, int block, int blocks) {
    int share = ((n + blocks - 1) / blocks + STRETCH - 1) / STRETCH * STRETCH;
    long long first = min((long long)n, (long long)block * share);
    return make_int2((int)first, (int)min((long long)n, first + share));
}

__global__ void start() {
    for (int i = threadIdx.x; i < 3 * BINS; i += blockDim.x) state.bins[0][i] = 0.0f;
    if (threadIdx.x == 0) {
        state.largest = state.prefix = 0;
        state.total = state.above = 0.0f;
    }
}

__global__ void __launch_bounds__(THREADS) find_largest(const float* __restrict__ logits, int n) {
    int2 range = range_of(n, blockIdx.x, gridDim.x);
    unsigned largest = 0;
    for_each(logits, n, range.x, range.y, [&](float x) { largest = max(largest, key_of(x)); });
    for (int mask = 16; mask > 0; mask /= 2) largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, mask));
    if (threadIdx.x % 32 == 0) atomicMax(&state.largest, largest);
}

template <int LEVEL>
__global__ void __launch_bounds__(THREADS) count(const float* __restrict__ logits, int n) {
    constexpr int SHIFT = LEVEL == 0 ? 21 : LEVEL == 1 ? 10 : 0, WIDTH = LEVEL == 2 ? 10 : 11;
    __shared__ float bins[1 << WIDTH];
    for (int i = threadIdx.x; i < 1 << WIDTH; i += THREADS) bins[i] = 0.0f;
    __syncthreads();
    int2 range = range_of(n, blockIdx.x, gridDim.x);
    float largest = value_of(state.largest);
    unsigned prefix = state.prefix;
    for_each(logits, n, range.x, range.y, [&](float x) {
        unsigned key = key_of(x);
        if (LEVEL > 0 && key >> (LEVEL == 1 ? 21 : 10) != prefix) return;
        atomicAdd(&bins[key >> SHIFT & ((1u << WIDTH) - 1)], __expf(x - largest));
    });
    __syncthreads();
    for (int i = threadIdx.x; i < 1 << WIDTH; i += THREADS) {
        if (bins[i] != 0.0f) atomicAdd(&state.bins[LEVEL][i], bins[i]);
    }
}

// The highest bin at which the mass of it and all above reaches p.
template <int LEVEL>
__global__ void __launch_bounds__(1024) choose(const float* __restrict__ p) {
    constexpr int WIDTH = LEVEL == 2 ? 10 : 11, EACH = (1 << WIDTH) / 1024;
    __shared__ float shared[1024];
    __shared__ int last;
    // Thread 0 has the highest bins.
    int t = threadIdx.x, top = (1 << WIDTH) - 1 - t * EACH;
    float own = 0.0f;
    for (int i = 0; i < EACH; i++) own += state.bins[LEVEL][top - i];
    if (t == 0) last = 0;
    shared[t] = own;
    __syncthreads();
    if (own > 0.0f) atomicMax(&last, t);
    for (int offset = 1; offset < 1024; offset *= 2) {
        float other = t >= offset ? shared[t - offset] : 0.0f;
        __syncthreads();
        shared[t] += other;
        __syncthreads();
    }
    float total = LEVEL == 0 ? shared[1023] : state.total, above = LEVEL == 0 ? 0.0f : state.above, wanted = *p * total;
    float before = above + (t == 0 ? 0.0f : shared[t - 1]);
    unsigned prefix = state.prefix;
    __syncthreads();
    // Where rounding leaves the sum short of p, the last bin that has anything.
    bool reaches = before + own >= wanted || t == last;
    bool earlier = t > 0 && (above + shared[t - 1] >= wanted || t - 1 >= last);
    if (!reaches || earlier) return;
    int i = 0;
    while (i < EACH - 1 && before + state.bins[LEVEL][top - i] < wanted) before += state.bins[LEVEL][top - i++];
    state.prefix = prefix << WIDTH | (unsigned)(top - i);
    state.total = total;
    state.above = before;
}

__global__ void __launch_bounds__(THREADS) add_up(const float* __restrict__ logits, int n) {
    __shared__ float of_warp[THREADS / 32];
    int2 range = range_of(n, blockIdx.x, gridDim.x);
    float largest = value_of(state.largest), sum = 0.0f;
    unsigned least = state.prefix;
    for_each(logits, n, range.x, range.y, [&](float x) { sum += key_of(x) >= least ? __expf(x - largest) : 0.0f; });
    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < THREADS / 32; w++) sum += of_warp[w];
        state.sums[blockIdx.x] = sum;
    }
}

__global__ void __launch_bounds__(THREADS) draw(const float* __restrict__ logits, const int* __restrict__ seed, int* __restrict__ token, int n,
                                                int blocks) {
    __shared__ float scanned[THREADS];
    __shared__ float wanted, before;
    __shared__ int block, found;
    int t = threadIdx.x;
    if (t == 0) {
        unsigned x = (unsigned)*seed * 2654435769u + 12345u;
        x = (x ^ x >> 16) * 0x7feb352du;
        x = (x ^ x >> 15) * 0x846ca68bu;
        x ^= x >> 16;
        float kept = 0.0f, sum = 0.0f;
        int b = 0;
        for (int i = 0; i < blocks; i++) kept += state.sums[i];
        wanted = (x >> 8) / 16777216.0f * kept;
        while (b < blocks - 1 && sum + state.sums[b] <= wanted) sum += state.sums[b++];
        before = sum;
        block = b;
        found = -1;
    }
    __syncthreads();
    float largest = value_of(state.largest);
    unsigned least = state.prefix;
    int2 range = range_of(n, block, blocks);
    for (int start = range.x; start < range.y; start += THREADS) {
        int i = start + t;
        bool kept = i < range.y && key_of(logits[i]) >= least;
        scanned[t] = kept ? __expf(logits[i] - largest) : 0.0f;
        __syncthreads();
        for (int offset = 1; offset < THREADS; offset *= 2) {
            float other = t >= offset ? scanned[t - offset] : 0.0f;
            __syncthreads();
            scanned[t] += other;
            __syncthreads();
        }
        bool here = kept && before + scanned[t] > wanted && (t == 0 || before + scanned[t - 1] <= wanted);
        // Rounding may leave none; then the last one of the nucleus is drawn.
        if (__syncthreads_or(here)) {
            if (here) *token = i;
            return;
        }
        if (kept) atomicMax(&found, i);
        if (t == 0) before += scanned[THREADS - 1];
        __syncthreads();
    }
    if (t == 0 && found >= 0) *token = found;
}

extern "C" void solve(const float* logits, const float* p, const int* seed, int* sampled_token, int vocab_size) {
    int blocks = max(1, min(MAX_BLOCKS, (vocab_size + STRETCH - 1) / STRETCH));
    start<<<1, 1024>>>();
    find_largest<<<blocks, THREADS>>>(logits, vocab_size);
    count<0><<<blocks, THREADS>>>(logits, vocab_size);
    choose<0><<<1, 1024>>>(p);
    count<1><<<blocks, THREADS>>>(logits, vocab_size);
    choose<1><<<1, 1024>>>(p);
    count<2><<<blocks, THREADS>>>(logits, vocab_size);
    choose<2><<<1, 1024>>>(p);
    add_up<<<blocks, THREADS>>>(logits, vocab_size);
    draw<<<1, THREADS>>>(logits, seed, sampled_token, vocab_size, blocks);
}
