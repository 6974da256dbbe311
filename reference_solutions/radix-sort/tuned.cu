// A stable radix sort from the lowest digit up, four passes of eight bits, each of which reads and writes the keys once
// ("onesweep"). One kernel counts the digits of all passes. Then each block takes the next tile, ranks its keys a warp
// at a time (lanes with equal digits find each other by an atomic OR in shared memory), says how many keys of each
// digit it has, and adds up what the tiles before it said, back to the first that knows the sum of all before. Keys are
// ordered by digit in shared memory and written as runs.
//
// Two numbers, for an H200: 2,304 MB, as the keys are read five times and written four times, over 4.8 TB/s are 480 µs;
// arithmetic is little. Measured on an H200: 1,504 µs, CUB 1,656 µs. What is left: ranking is a chain of accesses to
// shared memory for each key, which more warps would hide; registers for keys limit them.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int ITEMS = 24;
constexpr int BLOCKS = 4;

__device__ unsigned encode(unsigned key) { return key; }
__device__ unsigned decode(unsigned key) { return key; }

constexpr int WARPS = THREADS / 32;
constexpr int TILE = THREADS * ITEMS;
constexpr int DIGITS = 256, PASSES = 4;
constexpr int COUNT_BITS = 27;  // of a word that says how many keys there are; the bits above say what they are
static_assert(THREADS >= DIGITS);

// Counts the digits of all passes.
__global__ void __launch_bounds__(512) count(const unsigned* __restrict__ keys, int n, unsigned* totals) {
    __shared__ unsigned local[PASSES][DIGITS];
    for (int i = threadIdx.x; i < PASSES * DIGITS; i += 512) local[0][i] = 0;
    __syncthreads();
    auto add = [&](unsigned bits) {
        unsigned key = encode(bits);
#pragma unroll
        for (int p = 0; p < PASSES; p++) atomicAdd(&local[p][key >> 8 * p & (DIGITS - 1)], 1);
    };
    const uint4* fours = reinterpret_cast<const uint4*>(keys);
    int stride = gridDim.x * 512, first = blockIdx.x * 512 + threadIdx.x;
#pragma unroll 2
    for (int i = first; i < n / 4; i += stride) {
        uint4 four = fours[i];
        add(four.x), add(four.y), add(four.z), add(four.w);
    }
    if (first < n % 4) add(keys[n / 4 * 4 + first]);
    __syncthreads();
    for (int i = threadIdx.x; i < PASSES * DIGITS; i += 512) {
        if (local[0][i] != 0) atomicAdd(&totals[i], local[0][i]);
    }
}

struct Shared {
    unsigned seen[WARPS][DIGITS];  // per warp: how many keys with each digit were met, then where they begin
    union {
        unsigned tile[TILE];
        unsigned same[WARPS][DIGITS];  // per warp: the lanes whose keys have the digit
    };
    unsigned start[DIGITS];  // where the tile's keys with each digit go, less where they begin in the tile
    unsigned of_warp[2][DIGITS / 32];
    int number;
};

// Sums of this and all earlier threads among the first DIGITS, of two values at once.
__device__ uint2 scan_digits(uint2 value, unsigned (&of_warp)[2][DIGITS / 32]) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint2 sum = value;
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
        unsigned x = __shfl_up_sync(0xffffffffu, sum.x, offset), y = __shfl_up_sync(0xffffffffu, sum.y, offset);
        if (lane >= offset) sum.x += x, sum.y += y;
    }
    if (lane == 31 && warp < DIGITS / 32) of_warp[0][warp] = sum.x, of_warp[1][warp] = sum.y;
    __syncthreads();
    for (int i = 0; i < min(warp, DIGITS / 32); i++) sum.x += of_warp[0][i], sum.y += of_warp[1][i];
    return sum;
}

__device__ unsigned digit_of(unsigned key, int shift) { return key >> shift & (DIGITS - 1); }

// The lanes of the warp whose keys have the same digit.
__device__ unsigned lanes_alike(unsigned digit, bool is_there, unsigned* same) {
    if (is_there) atomicOr(&same[digit], 1u << threadIdx.x % 32);
    __syncwarp();
    return is_there ? same[digit] : 0;
}

// `progress` has a word for each tile and digit: which it is, and the keys of this tile, or of all up to this one.
// FULL: a whole tile.
template <bool FULL>
__device__ void sort_tile(Shared& s, const unsigned* __restrict__ keys, int n, int pass, const unsigned* __restrict__ totals, int number,
                          volatile unsigned* progress, unsigned* __restrict__ sorted) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, shift = 8 * pass, first = number * TILE;
    for (int i = lane; i < DIGITS; i += 32) s.seen[warp][i] = 0;
    for (int i = lane; i < DIGITS; i += 32) s.same[warp][i] = 0;
    __syncwarp();
    unsigned mine[ITEMS];
    unsigned ranks[(ITEMS + 1) / 2] = {};  // two in a word
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        int i = first + warp * 32 * ITEMS + j * 32 + lane;
        mine[j] = FULL || i < n ? keys[i] : 0xffffffffu;
    }
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        bool is_there = FULL || first + warp * 32 * ITEMS + j * 32 + lane < n;
        if (pass == 0 && is_there) mine[j] = encode(mine[j]);
        unsigned digit = digit_of(mine[j], shift);
        unsigned same = lanes_alike(digit, is_there, s.same[warp]);
        unsigned before = is_there ? s.seen[warp][digit] : 0;
        ranks[j / 2] |= (before + __popc(same & ((1u << lane) - 1))) << j % 2 * 16;
        __syncwarp();
        if (is_there && lane == __ffs(same) - 1) {
            s.seen[warp][digit] = before + __popc(same);
            s.same[warp][digit] = 0;
        }
        __syncwarp();
    }
    __syncthreads();

    // Thread d has digit d: it turns the warps' counts into starting places within the tile, and says how many keys there are.
    constexpr unsigned COUNT = (1u << COUNT_BITS) - 1;
    unsigned here = (2 * pass + 1) << COUNT_BITS, up_to_here = (2 * pass + 2) << COUNT_BITS;
    unsigned digit = threadIdx.x, of_digit = 0;
    uint2 values = {0, 0};
    if (threadIdx.x < DIGITS) {
#pragma unroll
        for (int i = 0; i < WARPS; i++) {
            unsigned count = s.seen[i][digit];
            s.seen[i][digit] = of_digit;
            of_digit += count;
        }
        progress[(size_t)number * DIGITS + digit] = (number == 0 ? up_to_here : here) | of_digit;
        values = {of_digit, totals[pass * DIGITS + digit]};
    }
    uint2 sums = scan_digits(values, s.of_warp);
    unsigned in_tile = sums.x - values.x;
    if (threadIdx.x < DIGITS) {
#pragma unroll
        for (int i = 0; i < WARPS; i++) s.seen[i][digit] += in_tile;
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        if (FULL || first + warp * 32 * ITEMS + j * 32 + lane < n) s.tile[s.seen[warp][digit_of(mine[j], shift)] + (ranks[j / 2] >> j % 2 * 16 & 0xffff)] = mine[j];
    }
    if (threadIdx.x < DIGITS) {
        unsigned before = 0;
        for (int other = number - 1; other >= 0; other--) {
            unsigned word;
            do {
                word = progress[(size_t)other * DIGITS + digit];
            } while (word < here);  // left by an earlier pass
            before += word & COUNT;
            if (word >= up_to_here) break;
        }
        if (number > 0) progress[(size_t)number * DIGITS + digit] = up_to_here | (before + of_digit);
        s.start[digit] = sums.y - values.y + before - in_tile;
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        int i = j * THREADS + threadIdx.x;
        if (FULL || first + i < n) {
            unsigned key = s.tile[i];
            sorted[s.start[key >> shift & (DIGITS - 1)] + i] = pass == PASSES - 1 ? decode(key) : key;
        }
    }
}

__global__ void __launch_bounds__(THREADS, BLOCKS) sort_digit(const unsigned* __restrict__ keys, int n, int pass, const unsigned* __restrict__ totals,
                                                               unsigned* numbers, volatile unsigned* progress, unsigned* __restrict__ sorted) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared& s = *reinterpret_cast<Shared*>(memory);
    // Blocks that begin first take the first tiles, so that no block waits for one that has not begun.
    if (threadIdx.x == 0) s.number = atomicAdd(&numbers[pass], 1);
    __syncthreads();
    int number = s.number;
    if ((number + 1) * TILE <= n) {
        sort_tile<true>(s, keys, n, pass, totals, number, progress, sorted);
    } else {
        sort_tile<false>(s, keys, n, pass, totals, number, progress, sorted);
    }
}

// Room that is kept from call to call.
static unsigned* scratch(size_t words) {
    static unsigned* buffer = nullptr;
    static size_t size = 0;
    if (words > size) {
        cudaFree(buffer);
        cudaMalloc(&buffer, words * sizeof(unsigned));
        size = words;
    }
    return buffer;
}

static void sort(const unsigned* input, unsigned* output, int n) {
    int tiles = (n + TILE - 1) / TILE;
    size_t words = (size_t)tiles * DIGITS + PASSES * DIGITS + PASSES;
    unsigned *totals = scratch(words + 3 + n), *numbers = totals + PASSES * DIGITS, *progress = numbers + PASSES, *other = totals + (words + 3) / 4 * 4;
    cudaMemsetAsync(totals, 0, words * sizeof(unsigned));
    count<<<min((n + 8191) / 8192, 132 * 4), 512>>>(input, n, totals);
    cudaFuncSetAttribute(sort_digit, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(Shared));
    for (int pass = 0; pass < PASSES; pass++) {
        const unsigned* from = pass == 0 ? input : pass % 2 == 0 ? output : other;
        unsigned* to = pass % 2 == 0 ? other : output;
        sort_digit<<<tiles, THREADS, sizeof(Shared)>>>(from, n, pass, totals, numbers, progress, to);
    }
}

extern "C" void solve(const unsigned int* input, unsigned int* output, int N) { sort(input, output, N); }
