// Blocks that add to one number, without and with what keeps updates from being lost.
#include <cuda_runtime.h>

__global__ void plain(int* out) {
    if (threadIdx.x == 0) *out += 1;
}

__global__ void atomic(int* out) { atomicAdd(out, 1); }

// A ticket and a fence: the last block adds up, and nothing is lost.
__global__ void last_adds(int* out) {
    __shared__ bool is_last;
    out[blockIdx.x + 2] = 1;
    __threadfence();
    if (threadIdx.x == 0) is_last = atomicAdd(out + 1, 1) == gridDim.x - 1;
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        __threadfence();
        int sum = 0;
        for (int i = 0; i < gridDim.x; ++i) sum += out[i + 2];
        *out = sum;
    }
}

// Each block reads what it has stored itself.
__global__ void own(int* out) {
    out[blockIdx.x + 2] = threadIdx.x;
    out[blockIdx.x + 2] += 1;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, out[blockIdx.x + 2] == 1);
}

// Two blocks each, which may run far from one another: the one that comes later adds what both have stored.
template <bool FENCED>
__device__ void add_pairs(int* out) {
    int pair = blockIdx.x % 40, *stored = out + 41 + blockIdx.x;
    *stored = 1;
    if (FENCED) __threadfence();
    if (atomicAdd(out + 1 + pair, 1) == 1) atomicAdd(out, *stored + out[41 + (blockIdx.x + 40) % 80]);
}
__global__ void pairs(int* out) { add_pairs<false>(out); }
__global__ void fenced_pairs(int* out) { add_pairs<true>(out); }

// Each block waits for the one before it, by loads that are not strong.
__global__ void chain(int* out) {
    int block = atomicAdd(out + 1, 1), before = 0;
    if (block) {
        while (!__ldcg(out + 1 + block)) {}
        __threadfence();
        before = out[20 + block - 1];
    }
    out[20 + block] = before + 1;
    __threadfence();
    out[2 + block] = 1;
    if (block == gridDim.x - 1) *out = before + 1;
}

// What one block has stored in memory that another frees and gets anew must not come later than that.
__device__ int *given, *kept;
__global__ void heap(int* out) {
    if (atomicAdd(out + 1, 1) == 0) {
        int* first = static_cast<int*>(malloc(64));
        *first = 1;
        atomicExch(reinterpret_cast<unsigned long long*>(&given), reinterpret_cast<unsigned long long>(first));
        return;
    }
    unsigned long long* at = reinterpret_cast<unsigned long long*>(&given);
    unsigned long long taken = 0;
    while (!taken) taken = atomicExch(at, 0ull);
    int* theirs = reinterpret_cast<int*>(taken);
    out[2] = *theirs;
    free(theirs);
    kept = static_cast<int*>(malloc(64));
    *kept = 12;
}
__global__ void give_kept(int* out) {
    *out = *kept;
    free(kept);
}

#define RUN_ON(name, blocks, threads) extern "C" int run_##name(int* out) { name<<<blocks, threads>>>(out); return cudaDeviceSynchronize(); }
#define RUN(name, threads) RUN_ON(name, 12, threads)
RUN(plain, 64)
RUN(atomic, 1)
RUN(last_adds, 1)
RUN(own, 1)
RUN_ON(pairs, 80, 1)
RUN_ON(fenced_pairs, 80, 1)
RUN(chain, 1)

extern "C" int run_heap(int* out) {
    heap<<<2, 1>>>(out);
    give_kept<<<1, 1>>>(out);
    return cudaDeviceSynchronize();
}
