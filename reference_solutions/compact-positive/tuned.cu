// One pass with look-back. Blocks take tiles of 4,096 numbers in order, find ranks with ballots, gather what they keep
// in shared memory, and publish their count. To learn its starting place a block reads what the tiles before it have
// published, 32 tiles at a time, until it meets one that knows its running total. The numbers that are kept then go out
// in coalesced writes. Zeros behind them are written last, once the total is known.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int ITEMS = 16;
constexpr int TILE = THREADS * ITEMS;
constexpr unsigned COUNT = 1u << 30;  // the tile's own count is known
constexpr unsigned TOTAL = 2u << 30;  // the count of it and of all before it
constexpr unsigned VALUE = COUNT - 1;

__device__ unsigned look_back(volatile unsigned* states, int tile) {
    unsigned before = 0;
    int lane = threadIdx.x;
    for (int last = tile - 1;; last -= 32) {
        int index = last - lane;
        unsigned state = TOTAL;
        if (index >= 0) {
            do state = states[index];
            while (state == 0);
        }
        unsigned totals = __ballot_sync(0xffffffffu, state & TOTAL);
        int end = totals ? __ffs(totals) - 1 : 31;
        before += __reduce_add_sync(0xffffffffu, lane <= end ? state & VALUE : 0u);
        if (totals) return before;
    }
}

__global__ void __launch_bounds__(THREADS) compact(const float* __restrict__ A, int n, float* __restrict__ out,
                                                    unsigned* states, unsigned* next_tile) {
    __shared__ float kept[TILE];
    __shared__ unsigned of_warp[WARPS];
    __shared__ unsigned tile_number, start;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) tile_number = atomicAdd(next_tile, 1);
    __syncthreads();
    int tile = tile_number;
    int first = tile * TILE + warp * 32 * ITEMS + lane;

    float values[ITEMS];
    unsigned flags[ITEMS];
    unsigned mine = 0;
#pragma unroll
    for (int j = 0; j < ITEMS; j++) values[j] = first + j * 32 < n ? __ldcs(A + first + j * 32) : 0.0f;
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        flags[j] = __ballot_sync(0xffffffffu, values[j] > 0.0f);
        mine += __popc(flags[j]);
    }
    if (lane == 0) of_warp[warp] = mine;
    __syncthreads();
    unsigned rank = 0, total = 0;
#pragma unroll
    for (int i = 0; i < WARPS; i++) {
        if (i < warp) rank += of_warp[i];
        total += of_warp[i];
    }
    if (warp == 0) {
        if (lane == 0) atomicExch(states + tile, (tile == 0 ? TOTAL : COUNT) | total);
        unsigned before = tile == 0 ? 0 : look_back(states, tile);
        if (lane == 0) {
            if (tile > 0) atomicExch(states + tile, TOTAL | (before + total));
            start = before;
        }
    }
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        if (values[j] > 0.0f) kept[rank + __popc(flags[j] & ((1u << lane) - 1))] = values[j];
        rank += __popc(flags[j]);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < total; i += THREADS) __stcs(out + start + i, kept[i]);
}

__global__ void clear_rest(float* out, int n, const unsigned* last_state) {
    for (int i = (*last_state & VALUE) + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = 0.0f;
}

extern "C" void solve(const float* A, int N, float* out) {
    int tiles = (N + TILE - 1) / TILE;
    unsigned* states;
    cudaMallocAsync(&states, sizeof(unsigned) * (tiles + 1), 0);
    cudaMemsetAsync(states, 0, sizeof(unsigned) * (tiles + 1), 0);
    compact<<<tiles, THREADS>>>(A, N, out, states, states + tiles);
    clear_rest<<<min((N + 255) / 256, 1056), 256>>>(out, N, states + tiles - 1);
    cudaFreeAsync(states, 0);
}
