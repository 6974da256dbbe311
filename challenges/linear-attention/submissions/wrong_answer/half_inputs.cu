// Queries, keys and values in half precision; sums in single precision.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ float half_of(float x) { return __half2float(__float2half(x)); }

__device__ float feature(float x) { return x > 0.0f ? x + 1.0f : expf(x); }

__global__ void add_up(const float* K, const float* V, float* products, float* sums, int M, int d) {
    int first = blockIdx.x * 256, end = min(M, first + 256);
    for (int e = threadIdx.x; e < d * d; e += blockDim.x) {
        int a = e / d, b = e % d;
        float sum = 0.0f;
        for (int j = first; j < end; j++) sum += feature(half_of(K[(size_t)j * d + a])) * half_of(V[(size_t)j * d + b]);
        atomicAdd(&products[e], sum);
    }
    for (int a = threadIdx.x; a < d; a += blockDim.x) {
        float sum = 0.0f;
        for (int j = first; j < end; j++) sum += feature(half_of(K[(size_t)j * d + a]));
        atomicAdd(&sums[a], sum);
    }
}

__global__ void apply(const float* Q, const float* products, const float* sums, float* output, int M, int d) {
    int b = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= M || b >= d) return;
    float sum = 0.0f, denominator = 0.0f;
    for (int a = 0; a < d; a++) {
        float q = feature(half_of(Q[(size_t)i * d + a]));
        sum += q * products[a * d + b];
        denominator += q * sums[a];
    }
    output[(size_t)i * d + b] = sum / denominator;
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int d) {
    float* scratch;
    cudaMalloc(&scratch, sizeof(float) * d * (d + 1));
    cudaMemset(scratch, 0, sizeof(float) * d * (d + 1));
    add_up<<<(M + 255) / 256, 256>>>(K, V, scratch, scratch + d * d, M, d);
    // The longer side goes to the first coordinate of the grid's blocks only where it fits: rows are in the second.
    for (int first = 0; first < M; first += 8 * 65535) {
        int rows = min(M - first, 8 * 65535);
        apply<<<dim3((d + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(Q + (size_t)first * d, scratch, scratch + d * d,
                                                                    output + (size_t)first * d, rows, d);
    }
    cudaFree(scratch);
}
