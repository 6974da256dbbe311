// A thread takes four neighbouring columns in four rows: four 16-byte loads are under way at once. The
// four columns share a scale, since tiles are made of fours; divisions by the tile's side are shifts. Rows that do not
// begin at multiples of 16 bytes are taken one element at a time.
#include <cuda_runtime.h>

constexpr int ROWS = 4;

__global__ void __launch_bounds__(256) dequantise4(const float4* __restrict__ X, const float* __restrict__ S, float4* __restrict__ Y,
                                                   int M, int quads, int scale_columns, int shift) {
    int q = blockIdx.x * 64 + threadIdx.x;
    int first = (blockIdx.y * 4 + threadIdx.y) * ROWS;
    if (q >= quads) return;
    float4 x[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (first + r < M) x[r] = X[(size_t)(first + r) * quads + q];
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (first + r >= M) break;
        float s = S[(size_t)((first + r) >> shift) * scale_columns + ((q * 4) >> shift)];
        Y[(size_t)(first + r) * quads + q] = make_float4(x[r].x * s, x[r].y * s, x[r].z * s, x[r].w * s);
    }
}

__global__ void dequantise1(const float* __restrict__ X, const float* __restrict__ S, float* __restrict__ Y, int M, int N,
                            int scale_columns, int shift) {
    int j = blockIdx.x * 64 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;
    if (i < M && j < N) Y[(size_t)i * N + j] = X[(size_t)i * N + j] * S[(size_t)(i >> shift) * scale_columns + (j >> shift)];
}

extern "C" void solve(const float* X, const float* S, float* Y, int M, int N, int TILE_SIZE) {
    int shift = 0;
    while ((1 << shift) < TILE_SIZE) shift++;
    int scale_columns = (N + TILE_SIZE - 1) / TILE_SIZE;
    dim3 threads(64, 4);
    if (N % 4 == 0) {
        dequantise4<<<dim3((N / 4 + 63) / 64, (M + 4 * ROWS - 1) / (4 * ROWS)), threads>>>(
            reinterpret_cast<const float4*>(X), S, reinterpret_cast<float4*>(Y), M, N / 4, scale_columns, shift);
    } else {
        dequantise1<<<dim3((N + 63) / 64, (M + 3) / 4), threads>>>(X, S, Y, M, N, scale_columns, shift);
    }
}
