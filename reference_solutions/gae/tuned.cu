// One block a row, in tiles of 2,048 steps from the right. Going back a step is the map advantage -> c * advantage + delta,
// and maps compose: each thread composes eight consecutive steps, warps combine by shuffles, and the advantage at the left
// end of a tile is carried into the next one. Tiles go through shared memory, the next tile is loaded meanwhile.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int ITEMS = 8;
constexpr int TILE = THREADS * ITEMS;

struct Map {
    float factor;
    float added;
};

__device__ Map then(Map first, Map second) { return {first.factor * second.factor, second.factor * first.added + second.added}; }

// One place in 33 stays empty, so that threads with consecutive runs of steps do not meet in one bank.
__device__ int padded(int place) { return place + place / 32; }

__global__ void __launch_bounds__(THREADS) estimate(const float* __restrict__ rewards, const float* __restrict__ values,
                                                     float* __restrict__ advantages, float gamma, float c, int length) {
    __shared__ float deltas[TILE + TILE / 32];
    __shared__ Map of_warp[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    long long row = (long long)blockIdx.x * length;
    float next[ITEMS];
    float carried = 0.0f;
    // Step s from the right is t = length - 1 - s. The first turn only loads.
    for (int first = -TILE; first < length; first += TILE) {
        if (first >= 0) {
#pragma unroll
            for (int j = 0; j < ITEMS; j++) deltas[padded(j * THREADS + threadIdx.x)] = next[j];
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            int t = length - 1 - (first + TILE + j * THREADS + (int)threadIdx.x);
            next[j] = 0.0f;
            if (t >= 0) next[j] = __ldcs(rewards + row + t) - values[row + t];
            if (t >= 0 && t + 1 < length) next[j] += gamma * values[row + t + 1];
        }
        if (first < 0) continue;
        float mine[ITEMS];
        Map all = {1.0f, 0.0f};
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            mine[j] = deltas[padded(threadIdx.x * ITEMS + j)];
            all = then(all, {c, mine[j]});
        }
#pragma unroll
        for (int offset = 1; offset < 32; offset *= 2) {
            Map before = {__shfl_up_sync(0xffffffffu, all.factor, offset), __shfl_up_sync(0xffffffffu, all.added, offset)};
            if (lane >= offset) all = then(before, all);
        }
        if (lane == 31) of_warp[warp] = all;
        Map before = {__shfl_up_sync(0xffffffffu, all.factor, 1), __shfl_up_sync(0xffffffffu, all.added, 1)};
        if (lane == 0) before = {1.0f, 0.0f};
        __syncthreads();
        float running = carried;
#pragma unroll
        for (int i = 0; i < WARPS; i++) {
            if (i < warp) running = of_warp[i].factor * running + of_warp[i].added;
            carried = of_warp[i].factor * carried + of_warp[i].added;
        }
        running = before.factor * running + before.added;
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            running = c * running + mine[j];
            deltas[padded(threadIdx.x * ITEMS + j)] = running;
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            int t = length - 1 - (first + j * THREADS + (int)threadIdx.x);
            if (t >= 0) __stcs(advantages + row + t, deltas[padded(j * THREADS + threadIdx.x)]);
        }
        __syncthreads();
    }
}

extern "C" void solve(const float* rewards, const float* values, float* advantages, float gamma, float lam, int B, int S) {
    estimate<<<B, THREADS>>>(rewards, values, advantages, gamma, gamma * lam, S);
}
