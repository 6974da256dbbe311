// One pass with look-back. Blocks take tiles of 2,048 numbers in order; each thread scans eight consecutive ones, warps
// combine by shuffles. A tile publishes one 64-bit word: its sum, whether a segment began in it, and whether the sum is
// final. To learn what it carries in, a tile reads the words before it, nearest first, until one is final; a tile in
// which a segment began is final at once, so with short segments nobody waits.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int ITEMS = 8;
constexpr int TILE = THREADS * ITEMS;
constexpr unsigned long long PARTIAL = 1ull << 32;  // the sum of the tile alone
constexpr unsigned long long FINAL = 2ull << 32;    // the sum since the last start of a segment

struct Pair {
    float sum;
    int begun;
};

__device__ Pair combine(Pair left, Pair right) { return {right.begun ? right.sum : left.sum + right.sum, left.begun | right.begun}; }

__device__ float look_back(volatile unsigned long long* states, int tile) {
    float carried = 0.0f;
    for (int last = tile - 1;; last -= 32) {
        int index = last - (int)threadIdx.x;
        unsigned long long state = FINAL;
        if (index >= 0) {
            do state = states[index];
            while (state == 0);
        }
        unsigned final_ones = __ballot_sync(0xffffffffu, (state & FINAL) != 0);
        int end = final_ones ? __ffs(final_ones) - 1 : 31;
        float sum = (int)threadIdx.x <= end ? __uint_as_float((unsigned)state) : 0.0f;
        for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
        carried += sum;
        if (final_ones) return carried;
    }
}

__global__ void __launch_bounds__(THREADS) segmented(const float* __restrict__ values, const int* __restrict__ flags,
                                                      float* __restrict__ output, int n, unsigned long long* states,
                                                      int* next_tile) {
    __shared__ float staged[TILE];
    __shared__ unsigned char starts[TILE];
    __shared__ Pair of_warp[WARPS];
    __shared__ int tile_number;
    __shared__ float carried_in;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) tile_number = atomicAdd(next_tile, 1);
    __syncthreads();
    int tile = tile_number;
    long long first = (long long)tile * TILE;
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        int place = j * THREADS + threadIdx.x;
        bool is_there = first + place < n;
        staged[place] = is_there ? __ldcs(values + first + place) : 0.0f;
        starts[place] = is_there ? __ldcs(flags + first + place) : 0;
    }
    __syncthreads();

    float mine[ITEMS];
    int flag[ITEMS];
    Pair all = {0.0f, 0};
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        mine[j] = staged[threadIdx.x * ITEMS + j];
        flag[j] = starts[threadIdx.x * ITEMS + j];
        all = combine(all, {mine[j], flag[j]});
    }
    Pair sum = all;
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
        Pair left = {__shfl_up_sync(0xffffffffu, sum.sum, offset), __shfl_up_sync(0xffffffffu, sum.begun, offset)};
        if (lane >= offset) sum = combine(left, sum);
    }
    if (lane == 31) of_warp[warp] = sum;
    Pair before = {__shfl_up_sync(0xffffffffu, sum.sum, 1), __shfl_up_sync(0xffffffffu, sum.begun, 1)};
    if (lane == 0) before = {0.0f, 0};
    __syncthreads();
    Pair warps_before = {0.0f, 0}, total = {0.0f, 0};
#pragma unroll
    for (int i = 0; i < WARPS; i++) {
        if (i == warp) warps_before = total;
        total = combine(total, of_warp[i]);
    }
    if (warp == 0) {
        bool is_final = tile == 0 || total.begun;
        if (lane == 0) atomicExch(states + tile, (is_final ? FINAL : PARTIAL) | __float_as_uint(total.sum));
        float carried = tile == 0 ? 0.0f : look_back(states, tile);
        if (lane == 0) {
            if (!is_final) atomicExch(states + tile, FINAL | __float_as_uint(carried + total.sum));
            carried_in = carried;
        }
    }
    __syncthreads();
    Pair running = combine(combine({carried_in, 0}, warps_before), before);
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        staged[threadIdx.x * ITEMS + j] = flag[j] ? 0.0f : running.sum;
        running = combine(running, {mine[j], flag[j]});
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        int place = j * THREADS + threadIdx.x;
        if (first + place < n) __stcs(output + first + place, staged[place]);
    }
}

extern "C" void solve(const float* values, const int* flags, float* output, int N) {
    int tiles = (N + TILE - 1) / TILE;
    unsigned long long* states;
    cudaMallocAsync(&states, sizeof(unsigned long long) * (tiles + 1), 0);
    cudaMemsetAsync(states, 0, sizeof(unsigned long long) * (tiles + 1), 0);
    segmented<<<tiles, THREADS>>>(values, flags, output, N, states, reinterpret_cast<int*>(states + tiles));
    cudaFreeAsync(states, 0);
}
