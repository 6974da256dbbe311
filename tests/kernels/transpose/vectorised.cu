// Tiles of 64 x 64, moved 16 bytes at a time on both sides. A thread puts the four numbers that it loads into four rows
// of the tile, which is stored transposed; the XOR of the place keeps the banks apart.
#include <cuda_runtime.h>

constexpr int TILE = 64;

// Where (row, column) of the transposed tile is: pieces of four are exchanged by the row's number.
__device__ __forceinline__ int place(int row, int column) {
    return row * TILE + ((column / 4 ^ (row / 4 & 15)) * 4 + column % 4);
}

__global__ void __launch_bounds__(256) transpose(const float *__restrict__ in, float *__restrict__ out, int rows, int columns) {
    __shared__ __align__(16) float tile[TILE * TILE];
    int piece = threadIdx.x % 16, line = threadIdx.x / 16;
#pragma unroll
    for (int j = 0; j < TILE; j += 16) {
        int row = blockIdx.y * TILE + line + j, column = blockIdx.x * TILE + piece * 4;
        if (row >= rows) continue;
        if (column + 3 < columns && columns % 4 == 0) {
            float4 four = *reinterpret_cast<const float4 *>(in + (size_t)row * columns + column);
            tile[place(piece * 4, line + j)] = four.x;
            tile[place(piece * 4 + 1, line + j)] = four.y;
            tile[place(piece * 4 + 2, line + j)] = four.z;
            tile[place(piece * 4 + 3, line + j)] = four.w;
        } else {
            for (int k = 0; k < 4; k++) {
                if (column + k < columns) tile[place(piece * 4 + k, line + j)] = in[(size_t)row * columns + column + k];
            }
        }
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < TILE; j += 16) {
        int row = blockIdx.x * TILE + line + j, column = blockIdx.y * TILE + piece * 4;
        if (row >= columns) continue;
        if (column + 3 < rows && rows % 4 == 0) {
            *reinterpret_cast<float4 *>(out + (size_t)row * rows + column) =
                *reinterpret_cast<const float4 *>(&tile[place(line + j, piece * 4)]);
        } else {
            for (int k = 0; k < 4; k++) {
                if (column + k < rows) out[(size_t)row * rows + column + k] = tile[place(line + j, piece * 4 + k)];
            }
        }
    }
}

extern "C" void solve(const float *in, float *out, int rows, int columns) {
    dim3 grid((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transpose<<<grid, 256>>>(in, out, rows, columns);
}
