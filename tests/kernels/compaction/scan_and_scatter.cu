// The stable way in textbooks: flags, their prefix sums by levels, a scatter; all of it through global memory.
#include <cuda_runtime.h>

constexpr int THREADS = 512;

__global__ void flags(const int *in, int *flag, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) flag[i] = in[i] > 0;
}

__global__ void scan_blocks(int *data, int *sums, int n) {
    __shared__ int part[2][THREADS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t, now = 0;
    part[0][t] = i < n ? data[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < THREADS; distance *= 2, now ^= 1) {
        part[now ^ 1][t] = part[now][t] + (t >= distance ? part[now][t - distance] : 0);
        __syncthreads();
    }
    if (i < n) data[i] = part[now][t];
    if (t == THREADS - 1) sums[blockIdx.x] = part[now][t];
}

__global__ void add_before(int *data, const int *sums, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (blockIdx.x > 0 && i < n) data[i] += sums[blockIdx.x - 1];
}

__global__ void scatter(const int *in, const int *place, int *out, int *count, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    if (in[i] > 0) out[place[i] - 1] = in[i];
    if (i == n - 1) *count = place[i];
}

static void scan(int *data, int *sums, int n) {
    int blocks = (n + THREADS - 1) / THREADS;
    scan_blocks<<<blocks, THREADS>>>(data, sums, n);
    if (blocks == 1) return;
    scan(sums, sums + blocks, blocks);
    add_before<<<blocks, THREADS>>>(data, sums, n);
}

extern "C" void solve(const int *in, int *out, int *count, int n) {
    static int *place = nullptr;
    static int room = 0;
    if (room < n) {
        cudaFree(place);
        cudaMalloc(&place, (n + n / 256 + 64) * sizeof(int));
        room = n;
    }
    int blocks = (n + THREADS - 1) / THREADS;
    flags<<<blocks, THREADS>>>(in, place, n);
    scan(place, place + n, n);
    scatter<<<blocks, THREADS>>>(in, place, out, count, n);
}
