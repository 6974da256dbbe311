// A pair becomes one 64-bit word: the bits of the value, ordered as numbers are, above the complement of the index. So the
// largest word is the answer, a comparison is one instruction, and blocks meet by an atomic maximum.
#include <cuda_runtime.h>

constexpr int THREADS = 256;

using Word = unsigned long long;

__device__ Word best;

__global__ void start() { best = 0; }

__device__ Word word_of(float value, int place) {
    // Zero is added so that minus zero becomes zero, which equals it.
    unsigned bits = __float_as_uint(value + 0.0f);
    unsigned ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (Word)ordered << 32 | ~(unsigned)place;
}

__global__ void reduce(const float* input, int n) {
    __shared__ Word of_warp[THREADS / 32];
    Word word = 0;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) word = max(word, word_of(input[i], i));
    for (int distance = 16; distance > 0; distance /= 2) word = max(word, __shfl_xor_sync(0xffffffffu, word, distance));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = word;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int w = 1; w < THREADS / 32; w++) word = max(word, of_warp[w]);
    atomicMax(&best, word);
}

__global__ void finish(int* index) { *index = ~(unsigned)best; }

extern "C" void solve(const float* input, int* index, int N) {
    start<<<1, 1>>>();
    reduce<<<min((N + THREADS - 1) / THREADS, 132 * 8), THREADS>>>(input, N);
    finish<<<1, 1>>>(index);
}
