// Tiles of 32 x 32 with B's kept transposed, so that a warp reads down a column of it: one bank for all lanes.
#include <cuda_runtime.h>

#define TILE 32

__global__ void matmul(const float *A, const float *B, float *C, int m, int n, int k) {
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int t = 0; t < (k + TILE - 1) / TILE; t++) {
        a[ty][tx] = row < m && t * TILE + tx < k ? A[row * k + t * TILE + tx] : 0.0f;
        b[tx][ty] = t * TILE + ty < k && column < n ? B[(t * TILE + ty) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += a[ty][i] * b[tx][i];
        __syncthreads();
    }
    if (row < m && column < n) C[row * n + column] = sum;
}

extern "C" void solve(const float *A, const float *B, float *C, int m, int n, int k) {
    matmul<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(TILE, TILE)>>>(A, B, C, m, n, k);
}
