// Three launches. The first counts the positive numbers of each block, the second turns the counts into starting places
// with a single thread block, and the third writes each number to its block's start plus its rank within the block,
// which a scan in shared memory gives.
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void count(const float* A, int n, int* counts) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    int total = __syncthreads_count(i < n && A[i] > 0.0f);
    if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

__device__ int inclusive_scan(int value, int* shared) {
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int offset = 1; offset < THREADS; offset *= 2) {
        int before = threadIdx.x >= offset ? shared[threadIdx.x - offset] : 0;
        __syncthreads();
        shared[threadIdx.x] += before;
        __syncthreads();
    }
    int sum = shared[threadIdx.x];
    __syncthreads();
    return sum;
}

__global__ void starts(int* counts, int blocks) {
    __shared__ int shared[THREADS];
    int before = 0;
    for (int first = 0; first < blocks; first += THREADS) {
        int i = first + threadIdx.x;
        int mine = i < blocks ? counts[i] : 0;
        int sum = inclusive_scan(mine, shared);
        if (i < blocks) counts[i] = before + sum - mine;
        shared[threadIdx.x] = sum;
        __syncthreads();
        before += shared[THREADS - 1];
        __syncthreads();
    }
}

__global__ void write(const float* A, int n, const int* counts, float* out) {
    __shared__ int shared[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    bool is_kept = i < n && A[i] > 0.0f;
    int sum = inclusive_scan(is_kept, shared);
    if (is_kept) out[counts[blockIdx.x] + sum - 1] = A[i];
}

extern "C" void solve(const float* A, int N, float* out) {
    int blocks = (N + THREADS - 1) / THREADS;
    int* counts;
    cudaMalloc(&counts, sizeof(int) * blocks);
    cudaMemset(out, 0, sizeof(float) * N);
    count<<<blocks, THREADS>>>(A, N, counts);
    starts<<<1, THREADS>>>(counts, blocks);
    write<<<blocks, THREADS>>>(A, N, counts, out);
    cudaFree(counts);
}
