// One atomic to a block of 2048 elements: counts are scanned in the block, and what is kept is put in order in shared
// memory first, so that it is written in whole rows.
#include <cuda_runtime.h>

constexpr int THREADS = 256, PER_THREAD = 8, BLOCK = THREADS * PER_THREAD;

__global__ void __launch_bounds__(THREADS) keep(const int *__restrict__ in, int *__restrict__ out, int *count, int n) {
    __shared__ int kept[BLOCK], of_warp[THREADS / 32], first;
    int t = threadIdx.x, lane = t % 32, warp = t / 32, start = blockIdx.x * BLOCK;
    int values[PER_THREAD], mine = 0;
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
        int i = start + j * THREADS + t;
        values[j] = i < n ? in[i] : 0;
        mine += values[j] > 0;
    }
    int scanned = mine;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        int before = __shfl_up_sync(0xffffffff, scanned, distance);
        if (lane >= distance) scanned += before;
    }
    if (lane == 31) of_warp[warp] = scanned;
    __syncthreads();
    int place = scanned - mine, total = 0;
#pragma unroll
    for (int w = 0; w < THREADS / 32; w++) {
        if (w < warp) place += of_warp[w];
        total += of_warp[w];
    }
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
        if (values[j] > 0) kept[place++] = values[j];
    }
    if (t == 0) first = atomicAdd(count, total);
    __syncthreads();
    for (int i = t; i < total; i += THREADS) out[first + i] = kept[i];
}

extern "C" void solve(const int *in, int *out, int *count, int n) {
    keep<<<(n + BLOCK - 1) / BLOCK, THREADS>>>(in, out, count, n);
}
