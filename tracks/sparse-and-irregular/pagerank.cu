// Two launches for each round: a thread for each page makes its share, then a thread for each page adds up what comes in.
#include <cuda_runtime.h>

__global__ void start(float* ranks, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) ranks[v] = 1.0f / n;
}

__global__ void share(const float* ranks, const int* out_degrees, float* shares, float* spread, int n) {
    __shared__ float sums[256];
    int v = blockIdx.x * 256 + threadIdx.x;
    int degree = v < n ? out_degrees[v] : 1;
    if (v < n) shares[v] = degree > 0 ? ranks[v] / degree : 0.0f;
    sums[threadIdx.x] = degree == 0 ? ranks[v] : 0.0f;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(spread, sums[0]);
}

__global__ void gather(const int* row_offsets, const int* sources, const float* shares, const float* spread, float* ranks, float damping, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    float sum = 0.0f;
    for (int e = row_offsets[v]; e < row_offsets[v + 1]; e++) sum += shares[sources[e]];
    ranks[v] = (1.0f - damping + damping * *spread) / n + damping * sum;
}

extern "C" void solve(const int* row_offsets, const int* sources, const int* out_degrees, float* ranks, float damping, int iterations, int N, int E) {
    int blocks = (N + 255) / 256;
    float* shares;
    cudaMalloc(&shares, sizeof(float) * (N + 1));
    float* spread = shares + N;
    start<<<blocks, 256>>>(ranks, N);
    for (int i = 0; i < iterations; i++) {
        cudaMemset(spread, 0, sizeof(float));
        share<<<blocks, 256>>>(ranks, out_degrees, shares, spread, N);
        gather<<<blocks, 256>>>(row_offsets, sources, shares, spread, ranks, damping, N);
    }
    cudaFree(shares);
}
