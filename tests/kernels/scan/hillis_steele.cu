// Hillis and Steele in shared memory, 512 to a block: log2(512) steps, each with all threads and two barriers.
#include <cuda_runtime.h>

constexpr int THREADS = 512, BLOCK = THREADS;

__global__ void scan_blocks(const int *in, int *out, int *sums, int n) {
    __shared__ int part[THREADS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < THREADS; distance *= 2) {
        int before = t >= distance ? part[t - distance] : 0;
        __syncthreads();
        part[t] += before;
        __syncthreads();
    }
    if (i < n) out[i] = part[t];
    if (t == THREADS - 1) sums[blockIdx.x] = part[t];
}

__global__ void add_before(int *out, const int *sums, int n) {
    if (blockIdx.x == 0) return;
    int before = sums[blockIdx.x - 1];
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < min(n, (blockIdx.x + 1) * BLOCK); i += THREADS) out[i] += before;
}

// Scans each block; then the blocks' sums in the same way; then adds to each block what came before it.
static void scan_levels(const int *in, int *out, int *sums, int n) {
    int blocks = (n + BLOCK - 1) / BLOCK;
    scan_blocks<<<blocks, THREADS>>>(in, out, sums, n);
    if (blocks == 1) return;
    scan_levels(sums, sums, sums + blocks, blocks);
    add_before<<<blocks, THREADS>>>(out, sums, n);
}

extern "C" void solve(const int *in, int *out, int n) {
    static int *sums = nullptr;
    static int room = 0;
    if (room < n) {
        cudaFree(sums);
        cudaMalloc(&sums, (2 * (n / BLOCK) + 64) * sizeof(int));
        room = n;
    }
    scan_levels(in, out, sums, n);
}
