// Where N is a multiple of four, each thread exchanges two pieces of 16 bytes at the front with two at the back, and
// turns each round; all four are loaded before the first is stored. Where N is not, the back is not aligned, and threads
// exchange four single pairs each, a block's width apart.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int PIECES = 2;
constexpr int PAIRS = 4;

__device__ float4 turned(float4 v) { return make_float4(v.w, v.z, v.y, v.x); }

// `quads` pieces in all; the middle one, where their number is odd, is exchanged with itself.
__global__ void __launch_bounds__(THREADS) reverse_quads(float4* input, int quads) {
    int half = (quads + 1) / 2;
    int first = blockIdx.x * (THREADS * PIECES) + threadIdx.x;
    float4 front[PIECES] = {}, back[PIECES] = {};
#pragma unroll
    for (int j = 0; j < PIECES; j++) {
        int i = first + j * THREADS;
        if (i < half) {
            front[j] = __ldcs(input + i);
            back[j] = __ldcs(input + quads - 1 - i);
        }
    }
#pragma unroll
    for (int j = 0; j < PIECES; j++) {
        int i = first + j * THREADS;
        if (i < half) {
            __stcs(input + i, turned(back[j]));
            __stcs(input + quads - 1 - i, turned(front[j]));
        }
    }
}

__global__ void __launch_bounds__(THREADS) reverse_singly(float* input, int N) {
    int half = N / 2;
    int first = blockIdx.x * (THREADS * PAIRS) + threadIdx.x;
    float front[PAIRS] = {}, back[PAIRS] = {};
#pragma unroll
    for (int j = 0; j < PAIRS; j++) {
        int i = first + j * THREADS;
        if (i < half) {
            front[j] = input[i];
            back[j] = input[N - 1 - i];
        }
    }
#pragma unroll
    for (int j = 0; j < PAIRS; j++) {
        int i = first + j * THREADS;
        if (i < half) {
            input[i] = back[j];
            input[N - 1 - i] = front[j];
        }
    }
}

extern "C" void solve(float* input, int N) {
    if (N < 2) return;
    if (N % 4 == 0) {
        int threads = (N / 4 + 1) / 2, per_block = THREADS * PIECES;
        reverse_quads<<<(threads + per_block - 1) / per_block, THREADS>>>(reinterpret_cast<float4*>(input), N / 4);
    } else {
        int per_block = THREADS * PAIRS;
        reverse_singly<<<(N / 2 + per_block - 1) / per_block, THREADS>>>(input, N);
    }
}
