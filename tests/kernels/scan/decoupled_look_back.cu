// One pass (Merrill and Garland): each block publishes its sum, looks back over those before it until one has published
// its prefix, and then publishes its own. Blocks take their numbers from a counter, so that those before have begun.
#include <cuda_runtime.h>

constexpr int THREADS = 256, PER_THREAD = 8, BLOCK = THREADS * PER_THREAD;
constexpr unsigned NOTHING = 0, SUM = 1, PREFIX = 2;

__device__ int scan_warp(int value) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        int before = __shfl_up_sync(0xffffffff, value, distance);
        if (threadIdx.x % 32 >= distance) value += before;
    }
    return value;
}

// Flag and value in one 64-bit word, so that they are seen together.
__device__ void publish(unsigned long long *state, unsigned flag, int value) {
    atomicExch(state, (unsigned long long)flag << 32 | (unsigned)value);
}

__device__ int look_back(unsigned long long *states, int block) {
    int lane = threadIdx.x, before = 0;
    for (int from = block - 1;; from -= 32) {
        int at = from - lane;
        unsigned long long state;
        do {
            state = at >= 0 ? *(volatile unsigned long long *)&states[at] : (unsigned long long)PREFIX << 32;
        } while (__any_sync(0xffffffff, state >> 32 == NOTHING));
        unsigned with_prefix = __ballot_sync(0xffffffff, state >> 32 == PREFIX);
        int last = with_prefix ? __ffs(with_prefix) - 1 : 31;
        int value = lane <= last ? (int)(unsigned)state : 0;
#pragma unroll
        for (int mask = 16; mask; mask /= 2) value += __shfl_xor_sync(0xffffffff, value, mask);
        before += value;
        if (with_prefix) return before;
    }
}

__global__ void __launch_bounds__(THREADS) scan(const int *__restrict__ in, int *__restrict__ out, unsigned long long *states,
                                                unsigned *counter, int n) {
    __shared__ int items[BLOCK + BLOCK / 32], of_warp[THREADS / 32], block_number, block_before;
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t == 0) block_number = atomicAdd(counter, 1);
    __syncthreads();
    int block = block_number, first = block * BLOCK;
    // Striped loads, then a run of consecutive numbers to each thread, through shared memory.
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
        int at = j * THREADS + t;
        items[at + at / 32] = first + at < n ? in[first + at] : 0;
    }
    __syncthreads();
    int mine[PER_THREAD], sum = 0;
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
        int at = t * PER_THREAD + j;
        sum += items[at + at / 32];
        mine[j] = sum;
    }
    int scanned = scan_warp(sum);
    if (lane == 31) of_warp[warp] = scanned;
    __syncthreads();
    if (warp == 0) {
        int sums = scan_warp(lane < THREADS / 32 ? of_warp[lane] : 0);
        if (lane < THREADS / 32) of_warp[lane] = sums;
        int total = __shfl_sync(0xffffffff, sums, THREADS / 32 - 1);
        if (lane == 0) publish(&states[block], block ? SUM : PREFIX, total);
        int before = block ? look_back(states, block) : 0;
        if (lane == 0) {
            if (block) publish(&states[block], PREFIX, before + total);
            block_before = before;
        }
    }
    __syncthreads();
    int before = block_before + (warp > 0 ? of_warp[warp - 1] : 0) + scanned - sum;
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
        int at = t * PER_THREAD + j;
        items[at + at / 32] = mine[j] + before;
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
        int at = j * THREADS + t;
        if (first + at < n) out[first + at] = items[at + at / 32];
    }
}

extern "C" void solve(const int *in, int *out, int n) {
    static unsigned long long *states = nullptr;
    static int room = 0;
    int blocks = (n + BLOCK - 1) / BLOCK;
    if (room < blocks) {
        cudaFree(states);
        cudaMalloc(&states, (blocks + 1) * sizeof(*states));
        room = blocks;
    }
    cudaMemsetAsync(states, 0, (blocks + 1) * sizeof(*states));
    scan<<<blocks, THREADS>>>(in, out, states, (unsigned *)(states + blocks), n);
}
