// What lies between rows and columns is kept in half precision.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Sums over j the numbers from[start + j * stride], turned by k * j of n.
__device__ float2 bin(const float2* from, int stride, int k, int n) {
    float2 sum = {0.0f, 0.0f};
    int turn = 0;
    for (int j = 0; j < n; j++) {
        float sine, cosine;
        sincospif(-2.0f * turn / n, &sine, &cosine);
        float2 x = from[j * stride];
        sum.x += x.x * cosine - x.y * sine;
        sum.y += x.x * sine + x.y * cosine;
        turn += k;
        if (turn >= n) turn -= n;
    }
    return sum;
}

__device__ float2 halves(float2 x) { return __half22float2(__float22half2_rn(x)); }

__global__ void transform_rows(const float2* signal, float2* between, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (c < cols) between[r * cols + c] = halves(bin(signal + r * cols, 1, c, cols));
}

__global__ void transform_columns(const float2* between, float2* spectrum, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (c < cols) spectrum[r * cols + c] = bin(between + c, cols, r, rows);
}

extern "C" void solve(const float* signal, float* spectrum, int M, int N) {
    float2* between;
    cudaMalloc(&between, sizeof(float2) * M * N);
    dim3 blocks((N + 63) / 64, M);
    transform_rows<<<blocks, 64>>>(reinterpret_cast<const float2*>(signal), between, M, N);
    transform_columns<<<blocks, 64>>>(between, reinterpret_cast<float2*>(spectrum), M, N);
    cudaFree(between);
}
