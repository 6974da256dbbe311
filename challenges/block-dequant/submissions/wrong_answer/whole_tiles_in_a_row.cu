// expect: case=m-100-n-140-tile-size-64
// Where N divides by 4, takes fours, and N / TILE_SIZE, rounded down, for the scales in a row.
#include <cuda_runtime.h>

__global__ void fours(const float4 *X, const float *S, float4 *Y, int M, int quads, int tile) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= quads) return;
    float scale = S[row / tile * (4 * quads / tile) + 4 * col / tile];
    float4 x = X[(size_t)row * quads + col];
    Y[(size_t)row * quads + col] = make_float4(x.x * scale, x.y * scale, x.z * scale, x.w * scale);
}

__global__ void ones(const float *X, const float *S, float *Y, int M, int N, int tile) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    Y[(size_t)row * N + col] = X[(size_t)row * N + col] * S[row / tile * ((N + tile - 1) / tile) + col / tile];
}

extern "C" void solve(const float *X, const float *S, float *Y, int M, int N, int TILE_SIZE) {
    dim3 threads(32, 8);
    if (N % 4 == 0) {
        dim3 blocks((N / 4 + 31) / 32, (M + 7) / 8);
        fours<<<blocks, threads>>>((const float4 *)X, S, (float4 *)Y, M, N / 4, TILE_SIZE);
    } else {
        ones<<<dim3((N + 31) / 32, (M + 7) / 8), threads>>>(X, S, Y, M, N, TILE_SIZE);
    }
}
