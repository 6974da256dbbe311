// expect: case=longest-memory
// A tile of 4,096 steps carries in what the tile before it adds, but not what that one has carried in.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int ITEMS = 16;
constexpr int TILE = THREADS * ITEMS;

struct Map {
    float factor;
    float added;
};

__device__ Map then(Map first, Map second) { return {first.factor * second.factor, second.factor * first.added + second.added}; }

// One place in 33 stays empty, so that threads with consecutive runs of steps do not meet in one bank.
__device__ int padded(int place) { return place + place / 32; }

__global__ void __launch_bounds__(THREADS) recur(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ h, int length) {
    __shared__ float factors[TILE + TILE / 32], added[TILE + TILE / 32];
    __shared__ Map of_warp[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    long long row = (long long)blockIdx.x * length;
    float next_a[ITEMS], next_x[ITEMS];
    float state = 0.0f;
    for (int first = -TILE; first < length; first += TILE) {
        // The first turn only loads.
        if (first >= 0) {
#pragma unroll
            for (int j = 0; j < ITEMS; j++) {
                factors[padded(j * THREADS + threadIdx.x)] = next_a[j];
                added[padded(j * THREADS + threadIdx.x)] = next_x[j];
            }
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            int t = first + TILE + j * THREADS + threadIdx.x;
            next_a[j] = t < length ? __ldcs(a + row + t) : 1.0f;
            next_x[j] = t < length ? __ldcs(x + row + t) : 0.0f;
            if (t == 0) next_a[j] = 0.0f;
        }
        if (first < 0) continue;
        Map mine[ITEMS];
        Map all = {1.0f, 0.0f};
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            int place = padded(threadIdx.x * ITEMS + j);
            mine[j] = {factors[place], added[place]};
            all = then(all, mine[j]);
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
        float running = state;
        state = 0.0f;
#pragma unroll
        for (int i = 0; i < WARPS; i++) {
            if (i < warp) running = of_warp[i].factor * running + of_warp[i].added;
            state = of_warp[i].factor * state + of_warp[i].added;
        }
        running = before.factor * running + before.added;
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            running = mine[j].factor * running + mine[j].added;
            added[padded(threadIdx.x * ITEMS + j)] = running;
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            int t = first + j * THREADS + threadIdx.x;
            if (t < length) __stcs(h + row + t, added[padded(j * THREADS + threadIdx.x)]);
        }
        __syncthreads();
    }
}

extern "C" void solve(const float* a, const float* x, float* h, int B, int L) {
    recur<<<B, THREADS>>>(a, x, h, L);
}
