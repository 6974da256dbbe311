// The blocked form of Floyd and Warshall's algorithm, 32 nodes at a time, on a copy that is padded with infinities: the
// tile on the diagonal, then the tiles in its rows and columns, then all others. The others are a product of two tiles
// with (min, +) in shared memory; a thread keeps four by one of the outputs in registers.
#include <cuda_runtime.h>

constexpr int TILE = 32;
constexpr int ROWS = 8;  // threads a tile has in the direction of the rows

__global__ void pad(const float* dist, float* paths, int n, int padded) {
    int j = blockIdx.x * TILE + threadIdx.x, i = blockIdx.y * ROWS + threadIdx.y;
    paths[i * padded + j] = i < n && j < n ? dist[i * n + j] : __int_as_float(0x7f800000);
}

__global__ void cut(const float* paths, float* output, int n, int padded) {
    int j = blockIdx.x * TILE + threadIdx.x, i = blockIdx.y * ROWS + threadIdx.y;
    if (i < n && j < n) output[i * n + j] = paths[i * padded + j];
}

__device__ void load(float (*tile)[TILE], const float* paths, int padded, int row, int column) {
    for (int r = threadIdx.y; r < TILE; r += ROWS) tile[r][threadIdx.x] = paths[(row * TILE + r) * padded + column * TILE + threadIdx.x];
}

__device__ void store(float (*tile)[TILE], float* paths, int padded, int row, int column) {
    for (int r = threadIdx.y; r < TILE; r += ROWS) paths[(row * TILE + r) * padded + column * TILE + threadIdx.x] = tile[r][threadIdx.x];
}

// One node after another: `tile` may be `left` or `right`, whose row or column k does not change in step k.
__device__ void lead_through_tile(float (*tile)[TILE], float (*left)[TILE], float (*right)[TILE]) {
    for (int k = 0; k < TILE; k++) {
        for (int r = threadIdx.y; r < TILE; r += ROWS) {
            float longer = left[r][k] + right[k][threadIdx.x];
            if (longer < tile[r][threadIdx.x]) tile[r][threadIdx.x] = longer;
        }
        __syncthreads();
    }
}

__global__ void diagonal(float* paths, int padded, int step) {
    __shared__ float tile[TILE][TILE];
    load(tile, paths, padded, step, step);
    __syncthreads();
    lead_through_tile(tile, tile, tile);
    store(tile, paths, padded, step, step);
}

__global__ void row_and_column(float* paths, int padded, int step) {
    __shared__ float middle[TILE][TILE], tile[TILE][TILE];
    if (blockIdx.x == step) return;
    bool is_row = blockIdx.y == 0;
    int row = is_row ? step : blockIdx.x, column = is_row ? blockIdx.x : step;
    load(middle, paths, padded, step, step);
    load(tile, paths, padded, row, column);
    __syncthreads();
    if (is_row) lead_through_tile(tile, middle, tile);
    else lead_through_tile(tile, tile, middle);
    store(tile, paths, padded, row, column);
}

__global__ void others(float* paths, int padded, int step) {
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y, column = blockIdx.x;
    if (row == step || column == step) return;
    load(left, paths, padded, row, step);
    load(right, paths, padded, step, column);
    float least[TILE / ROWS];
#pragma unroll
    for (int r = 0; r < TILE / ROWS; r++) {
        least[r] = paths[(row * TILE + threadIdx.y + r * ROWS) * padded + column * TILE + threadIdx.x];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; k++) {
        float from_right = right[k][threadIdx.x];
#pragma unroll
        for (int r = 0; r < TILE / ROWS; r++) least[r] = fminf(least[r], left[threadIdx.y + r * ROWS][k] + from_right);
    }
#pragma unroll
    for (int r = 0; r < TILE / ROWS; r++) {
        paths[(row * TILE + threadIdx.y + r * ROWS) * padded + column * TILE + threadIdx.x] = least[r];
    }
}

extern "C" void solve(const float* dist, float* output, int N) {
    int tiles = (N + TILE - 1) / TILE, padded = tiles * TILE;
    float* paths;
    cudaMallocAsync(&paths, sizeof(float) * padded * padded, 0);
    dim3 threads(TILE, ROWS), all(tiles, tiles * TILE / ROWS);
    pad<<<all, threads>>>(dist, paths, N, padded);
    for (int step = 0; step < tiles; step++) {
        diagonal<<<1, threads>>>(paths, padded, step);
        row_and_column<<<dim3(tiles, 2), threads>>>(paths, padded, step);
        others<<<dim3(tiles, tiles), threads>>>(paths, padded, step);
    }
    cut<<<all, threads>>>(paths, output, N, padded);
    cudaFreeAsync(paths, 0);
}
