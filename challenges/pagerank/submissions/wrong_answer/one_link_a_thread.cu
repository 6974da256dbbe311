// expect: case=hub
// A block for each page, and a thread for each of its first 256 links.
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__device__ float sum_over_block(float value) {
    __shared__ float sums[THREADS];
    sums[threadIdx.x] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    return sums[0];
}

__global__ void start(float* ranks, int n) {
    int v = blockIdx.x * THREADS + threadIdx.x;
    if (v < n) ranks[v] = 1.0f / n;
}

__global__ void share(const float* ranks, const int* out_degrees, float* shares, float* spread, int n) {
    int v = blockIdx.x * THREADS + threadIdx.x;
    int degree = v < n ? out_degrees[v] : 1;
    if (v < n) shares[v] = degree > 0 ? ranks[v] / degree : 0.0f;
    float sum = sum_over_block(degree == 0 ? ranks[v] : 0.0f);
    if (threadIdx.x == 0) atomicAdd(spread, sum);
}

__global__ void gather(const int* row_offsets, const int* sources, const float* shares, const float* spread, float* ranks, float damping,
                       int n) {
    int v = blockIdx.x, link = row_offsets[v] + threadIdx.x;
    float sum = sum_over_block(link < row_offsets[v + 1] ? shares[sources[link]] : 0.0f);
    if (threadIdx.x == 0) ranks[v] = (1.0f - damping + damping * *spread) / n + damping * sum;
}

extern "C" void solve(const int* row_offsets, const int* sources, const int* out_degrees, float* ranks, float damping, int iterations,
                      int N, int E) {
    int blocks = (N + THREADS - 1) / THREADS;
    float* shares;
    cudaMalloc(&shares, sizeof(float) * (N + 1));
    float* spread = shares + N;
    start<<<blocks, THREADS>>>(ranks, N);
    for (int i = 0; i < iterations; i++) {
        cudaMemset(spread, 0, sizeof(float));
        share<<<blocks, THREADS>>>(ranks, out_degrees, shares, spread, N);
        gather<<<N, THREADS>>>(row_offsets, sources, shares, spread, ranks, damping, N);
    }
    cudaFree(shares);
}
