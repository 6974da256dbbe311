// Least significant digit first, eight bits to a pass: half as many passes, and scatters to 256 places at once.
#include <cuda_runtime.h>

constexpr int BITS = 8, DIGITS = 1 << BITS, THREADS = 256, PER_THREAD = 8, BLOCK = THREADS * PER_THREAD, WARPS = THREADS / 32;

__device__ int scan_warp(int value) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        int before = __shfl_up_sync(0xffffffff, value, distance);
        if (threadIdx.x % 32 >= distance) value += before;
    }
    return value;
}

// Counts by digit and block: all blocks' counts of digit 0, then those of digit 1, ...
__global__ void __launch_bounds__(THREADS) count(const unsigned *__restrict__ keys, int *__restrict__ counts, int n, int shift) {
    __shared__ int mine[DIGITS];
    for (int i = threadIdx.x; i < DIGITS; i += THREADS) mine[i] = 0;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
        int i = blockIdx.x * BLOCK + j * THREADS + threadIdx.x;
        if (i < n) atomicAdd(&mine[keys[i] >> shift & (DIGITS - 1)], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < DIGITS; i += THREADS) counts[i * gridDim.x + blockIdx.x] = mine[i];
}

// Exclusive sums of all counts: sums of pieces of 1024, their scan by one block, then within each piece.
__global__ void sum_pieces(const int *counts, int *sums, int count) {
    __shared__ int of_warp[8];
    int mine = 0;
    for (int i = blockIdx.x * 1024 + threadIdx.x; i < min(count, (int)(blockIdx.x + 1) * 1024); i += 256) mine += counts[i];
    for (int mask = 16; mask; mask /= 2) mine += __shfl_xor_sync(0xffffffff, mine, mask);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++) mine += of_warp[w];
        sums[blockIdx.x] = mine;
    }
}

__global__ void scan_pieces(int *counts, const int *sums, int count) {
    __shared__ int of_warp[32], before_piece;
    int t = threadIdx.x, i = blockIdx.x * 1024 + t, before = 0;
    if (t < 32) {
        for (int p = t; p < blockIdx.x; p += 32) before += sums[p];
        for (int mask = 16; mask; mask /= 2) before += __shfl_xor_sync(0xffffffff, before, mask);
        if (t == 0) before_piece = before;
    }
    int value = i < count ? counts[i] : 0, scanned = scan_warp(value);
    if (t % 32 == 31) of_warp[t / 32] = scanned;
    __syncthreads();
    if (t < 32) of_warp[t] = scan_warp(of_warp[t]);
    __syncthreads();
    if (i < count) counts[i] = before_piece + scanned - value + (t / 32 ? of_warp[t / 32 - 1] : 0);
}

// Each warp takes 32 x PER_THREAD consecutive keys; equal digits of a round find their order by match.any.
__global__ void __launch_bounds__(THREADS)
    scatter(const unsigned *__restrict__ keys, unsigned *__restrict__ to, const int *__restrict__ places, int n, int shift) {
    __shared__ int next[WARPS][DIGITS];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, first = blockIdx.x * BLOCK + warp * 32 * PER_THREAD;
    for (int i = t; i < WARPS * DIGITS; i += THREADS) (&next[0][0])[i] = 0;
    __syncthreads();
    unsigned key[PER_THREAD];
    int rank[PER_THREAD];
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
        int i = first + j * 32 + lane;
        key[j] = i < n ? keys[i] : 0xffffffffu;
        // What is past the end gets a digit of its own.
        int digit = i < n ? key[j] >> shift & (DIGITS - 1) : DIGITS;
        unsigned same = __match_any_sync(0xffffffff, digit);
        int leader = __ffs(same) - 1, before = 0;
        if (lane == leader && digit < DIGITS) {
            before = next[warp][digit];
            next[warp][digit] = before + __popc(same);
        }
        rank[j] = __shfl_sync(0xffffffff, before, leader) + __popc(same & ((1u << lane) - 1));
        __syncwarp();
    }
    __syncthreads();
    for (int digit = t; digit < DIGITS; digit += THREADS) {
        int place = places[digit * gridDim.x + blockIdx.x];
        for (int w = 0; w < WARPS; w++) {
            int mine = next[w][digit];
            next[w][digit] = place;
            place += mine;
        }
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
        if (first + j * 32 + lane < n) to[next[warp][key[j] >> shift & (DIGITS - 1)] + rank[j]] = key[j];
    }
}

extern "C" void solve(const unsigned *in, unsigned *out, int n) {
    static unsigned *other = nullptr;
    static int *counts = nullptr, room = 0;
    int blocks = (n + BLOCK - 1) / BLOCK, total = blocks * DIGITS, pieces = (total + 1023) / 1024;
    if (room < n) {
        cudaFree(other);
        cudaFree(counts);
        cudaMalloc(&other, n * sizeof(unsigned));
        cudaMalloc(&counts, (total + pieces) * sizeof(int));
        room = n;
    }
    const unsigned *from = in;
    for (int pass = 0; pass < 32 / BITS; pass++) {
        unsigned *to = pass % 2 ? out : other;
        count<<<blocks, THREADS>>>(from, counts, n, pass * BITS);
        sum_pieces<<<pieces, 256>>>(counts, counts + total, total);
        scan_pieces<<<pieces, 1024>>>(counts, counts + total, total);
        scatter<<<blocks, THREADS>>>(from, to, counts, n, pass * BITS);
        from = to;
    }
}
