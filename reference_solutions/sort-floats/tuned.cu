// A stable radix sort from the lowest digit up, four passes of eight bits. In each pass every block counts the digits of
// its tile of 4,096 keys, 256 blocks turn the counts into starting places (one block a digit), and every block ranks its
// keys with __match_any_sync, a warp at a time, orders them by digit in shared memory, and writes runs of equal digits to
// neighbouring addresses.
// The first pass turns the numbers into keys that order as the numbers do; the last one turns them back.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int ITEMS = 16;
constexpr int TILE = THREADS * ITEMS;
constexpr int DIGITS = 256;

__device__ unsigned encode(unsigned bits) { return bits & 0x80000000u ? ~bits : bits | 0x80000000u; }
__device__ unsigned decode(unsigned key) { return key & 0x80000000u ? key ^ 0x80000000u : ~key; }

__global__ void __launch_bounds__(THREADS) count(const unsigned* keys, int n, int shift, bool is_first, unsigned* counts, int tiles) {
    __shared__ unsigned local[DIGITS];
    local[threadIdx.x] = 0;
    __syncthreads();
    int first = blockIdx.x * TILE;
#pragma unroll 4
    for (int i = first + threadIdx.x; i < min(first + TILE, n); i += THREADS) {
        unsigned key = is_first ? encode(keys[i]) : keys[i];
        atomicAdd(&local[key >> shift & (DIGITS - 1)], 1);
    }
    __syncthreads();
    counts[threadIdx.x * tiles + blockIdx.x] = local[threadIdx.x];
}

__device__ unsigned scan_block(unsigned value, unsigned* of_warp) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned sum = value;
    for (int offset = 1; offset < 32; offset *= 2) {
        unsigned other = __shfl_up_sync(0xffffffffu, sum, offset);
        if (lane >= offset) sum += other;
    }
    __syncthreads();
    if (lane == 31) of_warp[warp] = sum;
    __syncthreads();
    for (int i = 0; i < warp; i++) sum += of_warp[i];
    return sum;
}

// One block a digit: the counts of its tiles become sums of those before, and the total is left in `totals`.
__global__ void __launch_bounds__(THREADS) starts(unsigned* counts, int tiles, unsigned* totals) {
    __shared__ unsigned of_warp[WARPS];
    __shared__ unsigned carried;
    unsigned* row = counts + (long long)blockIdx.x * tiles;
    unsigned before = 0;
    for (int first = 0; first < tiles; first += THREADS) {
        int i = first + threadIdx.x;
        unsigned mine = i < tiles ? row[i] : 0;
        unsigned sum = before + scan_block(mine, of_warp);
        if (i < tiles) row[i] = sum - mine;
        if (threadIdx.x == THREADS - 1) carried = sum;
        __syncthreads();
        before = carried;
    }
    if (threadIdx.x == 0) totals[blockIdx.x] = before;
}

__global__ void __launch_bounds__(THREADS) scatter(const unsigned* __restrict__ keys, int n, int shift, bool is_first, bool is_last,
                                                    const unsigned* counts, const unsigned* totals, int tiles,
                                                    unsigned* __restrict__ sorted) {
    __shared__ unsigned seen[WARPS][DIGITS];  // per warp: how many keys with each digit were met, then where they begin
    __shared__ unsigned tile[TILE];
    __shared__ unsigned start[DIGITS];  // where the tile's keys with each digit go, less where they begin in the tile
    __shared__ unsigned of_warp[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int first = blockIdx.x * TILE;
    for (int i = lane; i < DIGITS; i += 32) seen[warp][i] = 0;
    __syncwarp();

    unsigned mine[ITEMS], rank[ITEMS];
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        int i = first + warp * 32 * ITEMS + j * 32 + lane;
        bool is_there = i < n;
        mine[j] = is_there ? (is_first ? encode(keys[i]) : keys[i]) : 0xffffffffu;
        unsigned digit = is_there ? mine[j] >> shift & (DIGITS - 1) : DIGITS;
        unsigned same = __match_any_sync(0xffffffffu, digit);
        unsigned before = is_there ? seen[warp][digit] : 0;
        rank[j] = before + __popc(same & ((1u << lane) - 1));
        __syncwarp();
        if (is_there && lane == __ffs(same) - 1) seen[warp][digit] = before + __popc(same);
        __syncwarp();
    }
    __syncthreads();

    // Thread d turns the warps' counts of digit d into starting places within the tile, and finds where they go.
    unsigned digit = threadIdx.x, of_digit = 0;
    for (int i = 0; i < WARPS; i++) {
        unsigned here = seen[i][digit];
        seen[i][digit] = of_digit;
        of_digit += here;
    }
    unsigned before_all = scan_block(totals[digit], of_warp) - totals[digit];
    unsigned in_tile = scan_block(of_digit, of_warp) - of_digit;
    for (int i = 0; i < WARPS; i++) seen[i][digit] += in_tile;
    start[digit] = before_all + counts[digit * tiles + blockIdx.x] - in_tile;
    __syncthreads();

#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        if (first + warp * 32 * ITEMS + j * 32 + lane < n) tile[seen[warp][mine[j] >> shift & (DIGITS - 1)] + rank[j]] = mine[j];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < min(TILE, n - first); i += THREADS) {
        unsigned key = tile[i];
        sorted[start[key >> shift & (DIGITS - 1)] + i] = is_last ? decode(key) : key;
    }
}

extern "C" void solve(float* data, int N) {
    int tiles = (N + TILE - 1) / TILE;
    unsigned *other, *counts, *totals;
    cudaMallocAsync(&other, sizeof(unsigned) * N, 0);
    cudaMallocAsync(&counts, sizeof(unsigned) * DIGITS * (tiles + 1), 0);
    totals = counts + DIGITS * tiles;
    unsigned* keys = reinterpret_cast<unsigned*>(data);
    for (int pass = 0; pass < 4; pass++) {
        unsigned* from = pass % 2 == 0 ? keys : other;
        unsigned* to = pass % 2 == 0 ? other : keys;
        count<<<tiles, THREADS>>>(from, N, 8 * pass, pass == 0, counts, tiles);
        starts<<<DIGITS, THREADS>>>(counts, tiles, totals);
        scatter<<<tiles, THREADS>>>(from, N, 8 * pass, pass == 0, pass == 3, counts, totals, tiles, to);
    }
    cudaFreeAsync(counts, 0);
    cudaFreeAsync(other, 0);
}
