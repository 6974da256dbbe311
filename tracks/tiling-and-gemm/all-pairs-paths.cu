// Floyd and Warshall in tiles of 16 x 16: the tile on the diagonal, its row and column, then all others.
#include <cuda_runtime.h>

constexpr int TILE = 16;

__device__ float distance(const float* d, int n, int i, int j) {
    return i < n && j < n ? d[(size_t)i * n + j] : __int_as_float(0x7f800000);  // infinity
}

// part 0: the tile on the diagonal; 1: its row and its column; 2: all others.
__global__ void lead_through(float* d, int n, int phase, int part) {
    __shared__ float left[TILE][TILE + 1], right[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int tile_row = part == 0 || (part == 1 && blockIdx.y == 0) ? phase : part == 1 ? blockIdx.x : blockIdx.y;
    int tile_column = part == 0 || (part == 1 && blockIdx.y == 1) ? phase : blockIdx.x;
    if (part > 0 && tile_row == phase && tile_column == phase) return;
    if (part == 2 && (tile_row == phase || tile_column == phase)) return;
    int i = tile_row * TILE + ty, j = tile_column * TILE + tx, k = phase * TILE;
    float shortest = distance(d, n, i, j);
    left[ty][tx] = distance(d, n, i, k + tx);
    right[ty][tx] = distance(d, n, k + ty, j);
    __syncthreads();
    for (int step = 0; step < TILE; step++) {
        shortest = fminf(shortest, left[ty][step] + right[step][tx]);
        if (part < 2) {
            // This tile is one of its own operands: the next step has to see what this one found.
            __syncthreads();
            if (tile_column == phase) left[ty][tx] = shortest;
            if (tile_row == phase) right[ty][tx] = shortest;
            __syncthreads();
        }
    }
    if (i < n && j < n) d[(size_t)i * n + j] = shortest;
}

extern "C" void solve(const float* dist, float* output, int N) {
    cudaMemcpy(output, dist, sizeof(float) * N * N, cudaMemcpyDeviceToDevice);
    int tiles = (N + TILE - 1) / TILE;
    dim3 threads(TILE, TILE);
    for (int phase = 0; phase < tiles; phase++) {
        lead_through<<<1, threads>>>(output, N, phase, 0);
        lead_through<<<dim3(tiles, 2), threads>>>(output, N, phase, 1);
        lead_through<<<dim3(tiles, tiles), threads>>>(output, N, phase, 2);
    }
}
