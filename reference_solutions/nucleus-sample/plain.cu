// Bisection for the least logit of the nucleus: 32 times, the GPU adds up the exponentials above a threshold. Then stretches of the
// nucleus are added up, and one thread finds the stretch of the random number and walks through it.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int BLOCKS = 512;

// One of these lies in device memory. Keys are the bits of floats, ordered as the numbers.
struct State {
    unsigned low, high, largest;
    float total;
    float sums[BLOCKS];
};

__device__ State state;

__device__ unsigned key_of(float x) {
    unsigned bits = __float_as_uint(x);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ float value_of(unsigned key) { return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key); }

__global__ void start() {
    state.low = 0;
    state.high = 0;
    state.largest = 0;
    state.total = 0.0f;
}

__global__ void find_largest(const float* logits, int n) {
    unsigned largest = 0;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += BLOCKS * THREADS) largest = max(largest, key_of(logits[i]));
    atomicMax(&state.largest, largest);
}

// The sum of exponentials whose key is at least `least`, of this block's stretch.
__global__ void add_up(const float* logits, int n) {
    __shared__ float shared[THREADS];
    unsigned middle = state.low + (state.high - state.low + 1) / 2;
    float largest = value_of(state.largest), sum = 0.0f;
    int share = (n + BLOCKS - 1) / BLOCKS, first = min(n, (int)blockIdx.x * share), end = min(n, first + share);
    for (int i = first + threadIdx.x; i < end; i += THREADS) {
        if (key_of(logits[i]) >= middle) sum += expf(logits[i] - largest);
    }
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) shared[threadIdx.x] += shared[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) state.sums[blockIdx.x] = shared[0];
}

// The largest key whose tokens, and those above, have the mass p.
__global__ void halve(const float* p) {
    float sum = 0.0f;
    for (int b = 0; b < BLOCKS; b++) sum += state.sums[b];
    if (state.total == 0.0f) {
        state.total = sum;
        state.high = state.largest;
        return;
    }
    unsigned middle = state.low + (state.high - state.low + 1) / 2;
    if (sum >= *p * state.total) {
        state.low = middle;
    } else {
        state.high = middle - 1;
    }
}

__global__ void draw(const float* logits, const int* seed, int* token, int n) {
    unsigned x = (unsigned)*seed * 2654435769u + 12345u;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    x ^= x >> 16;
    float largest = value_of(state.largest), kept = 0.0f, before = 0.0f;
    for (int b = 0; b < BLOCKS; b++) kept += state.sums[b];
    float wanted = (x >> 8) / 16777216.0f * kept;
    int b = 0, share = (n + BLOCKS - 1) / BLOCKS;
    while (b < BLOCKS - 1 && before + state.sums[b] <= wanted) before += state.sums[b++];
    for (int i = b * share; i < n; i++) {
        if (key_of(logits[i]) < state.low) continue;
        // Rounding may leave none; then the last one of the nucleus is drawn.
        *token = i;
        before += expf(logits[i] - largest);
        if (before > wanted) break;
    }
}

extern "C" void solve(const float* logits, const float* p, const int* seed, int* sampled_token, int vocab_size) {
    start<<<1, 1>>>();
    find_largest<<<BLOCKS, THREADS>>>(logits, vocab_size);
    for (int round = 0; round < 33; round++) {
        add_up<<<BLOCKS, THREADS>>>(logits, vocab_size);
        halve<<<1, 1>>>(p);
    }
    add_up<<<BLOCKS, THREADS>>>(logits, vocab_size);
    draw<<<1, 1>>>(logits, seed, sampled_token, vocab_size);
}
