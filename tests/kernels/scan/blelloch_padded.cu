// Blelloch's two sweeps, with a hole in shared memory after every 32 numbers against bank conflicts.
#include <cuda_runtime.h>

constexpr int THREADS = 256, BLOCK = 2 * THREADS;

__device__ int at(int i) { return i + i / 32; }

__global__ void scan_blocks(const int *in, int *out, int *sums, int n) {
    __shared__ int part[BLOCK + BLOCK / 32];
    int t = threadIdx.x, first = blockIdx.x * BLOCK;
    int low = first + t < n ? in[first + t] : 0, high = first + t + THREADS < n ? in[first + t + THREADS] : 0;
    part[at(t)] = low;
    part[at(t + THREADS)] = high;
    int distance = 1;
    for (int active = THREADS; active > 0; active >>= 1) {
        __syncthreads();
        if (t < active) part[at(distance * (2 * t + 2) - 1)] += part[at(distance * (2 * t + 1) - 1)];
        distance *= 2;
    }
    if (t == 0) {
        sums[blockIdx.x] = part[at(BLOCK - 1)];
        part[at(BLOCK - 1)] = 0;
    }
    for (int active = 1; active < BLOCK; active *= 2) {
        distance >>= 1;
        __syncthreads();
        if (t < active) {
            int left = at(distance * (2 * t + 1) - 1), right = at(distance * (2 * t + 2) - 1);
            int kept = part[left];
            part[left] = part[right];
            part[right] += kept;
        }
    }
    __syncthreads();
    if (first + t < n) out[first + t] = part[at(t)] + low;
    if (first + t + THREADS < n) out[first + t + THREADS] = part[at(t + THREADS)] + high;
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
