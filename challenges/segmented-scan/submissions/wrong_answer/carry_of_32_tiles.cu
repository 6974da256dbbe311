// expect: case=one-long-segment
// Each tile of 4096 adds up what the 32 tiles before it carry, one for each thread of a warp. A segment may be longer.
#include <cuda_runtime.h>

constexpr int THREADS = 256, OWN = 16, TILE = THREADS * OWN;

// The sum since the last flag, and whether there was one.
struct Carry {
    float sum;
    int flagged;
};

__device__ Carry joined(Carry left, Carry right) {
    return {right.flagged ? right.sum : left.sum + right.sum, left.flagged | right.flagged};
}

// What each thread's own numbers and those of the threads before it carry; in shared memory, that of all.
__device__ void scan(Carry own, Carry *all) {
    int me = threadIdx.x;
    all[me] = own;
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {
        Carry left = me >= step ? all[me - step] : Carry{0, 0};
        __syncthreads();
        all[me] = joined(left, all[me]);
        __syncthreads();
    }
}

__device__ Carry of_own(const float *values, const int *flags, int first, int N) {
    Carry carry = {0, 0};
    for (int i = first; i < min(first + OWN, N); ++i) carry = joined(carry, {values[i], flags[i]});
    return carry;
}

__global__ void carries(const float *values, const int *flags, Carry *tiles, int N) {
    __shared__ Carry all[THREADS];
    scan(of_own(values, flags, blockIdx.x * TILE + threadIdx.x * OWN, N), all);
    if (threadIdx.x == 0) tiles[blockIdx.x] = all[THREADS - 1];
}

__global__ void outputs(const float *values, const int *flags, const Carry *tiles, float *output, int N) {
    __shared__ Carry all[THREADS];
    int first = blockIdx.x * TILE + threadIdx.x * OWN;
    scan(of_own(values, flags, first, N), all);
    Carry carry = {0, 0};
    for (int tile = max(0, (int)blockIdx.x - 32); tile < blockIdx.x; ++tile) carry = joined(carry, tiles[tile]);
    if (threadIdx.x > 0) carry = joined(carry, all[threadIdx.x - 1]);
    float sum = carry.sum;
    for (int i = first; i < min(first + OWN, N); ++i) {
        if (flags[i]) sum = 0;
        output[i] = sum;
        sum += values[i];
    }
}

extern "C" void solve(const float *values, const int *flags, float *output, int N) {
    int blocks = (N + TILE - 1) / TILE;
    Carry *tiles;
    cudaMalloc(&tiles, sizeof(Carry) * blocks);
    carries<<<blocks, THREADS>>>(values, flags, tiles, N);
    outputs<<<blocks, THREADS>>>(values, flags, tiles, output, N);
    cudaDeviceSynchronize();
    cudaFree(tiles);
}
