// One pass with 16-byte loads, four under way in each thread. A pair becomes one 64-bit word, the value's bits (ordered as
// the numbers are) above the complement of the index, so that the largest word is the answer: shuffles combine a warp,
// shared memory the warps, and one atomic maximum a block the blocks. A last thread turns the word into the index.
#include <cuda_runtime.h>

constexpr int THREADS = 512;
constexpr int UNROLL = 4;

using Word = unsigned long long;

__device__ Word best;

__global__ void start() { best = 0; }

__device__ Word word_of(float value, int place) {
    unsigned bits = __float_as_uint(value);
    // Minus zero equals zero.
    if (bits == 0x80000000u) bits = 0;
    unsigned ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (Word)ordered << 32 | ~(unsigned)place;
}

__device__ void take(float& value, int& place, float4 four, int first) {
    float largest = fmaxf(fmaxf(four.x, four.y), fmaxf(four.z, four.w));
    if (largest > value) {
        value = largest;
        place = first + (four.x == largest ? 0 : four.y == largest ? 1 : four.z == largest ? 2 : 3);
    }
}

__global__ void __launch_bounds__(THREADS) reduce(const float* __restrict__ input, int n) {
    __shared__ Word of_warp[THREADS / 32];
    const float4* quads = reinterpret_cast<const float4*>(input);
    int count = n / 4, stride = gridDim.x * THREADS;
    float value = -__int_as_float(0x7f800000);
    int place = n - 1;
    int i = blockIdx.x * THREADS + threadIdx.x;
    for (; i + (UNROLL - 1) * stride < count; i += UNROLL * stride) {
        float4 loaded[UNROLL];
#pragma unroll
        for (int j = 0; j < UNROLL; j++) loaded[j] = __ldcs(quads + i + j * stride);
#pragma unroll
        for (int j = 0; j < UNROLL; j++) take(value, place, loaded[j], 4 * (i + j * stride));
    }
    for (; i < count; i += stride) take(value, place, quads[i], 4 * i);
    Word word = word_of(value, place);
    int tail = 4 * count + threadIdx.x;
    if (blockIdx.x == 0 && tail < n) word = max(word, word_of(input[tail], tail));
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) word = max(word, __shfl_xor_sync(0xffffffffu, word, offset));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = word;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < THREADS / 32; w++) word = max(word, of_warp[w]);
        atomicMax(&best, word);
    }
}

__global__ void finish(int* index) { *index = ~(unsigned)best; }

extern "C" void solve(const float* input, int* index, int N) {
    int blocks = max(1, min((N / 4 + THREADS - 1) / THREADS, 528));
    start<<<1, 1>>>();
    reduce<<<blocks, THREADS>>>(input, N);
    finish<<<1, 1>>>(index);
}
