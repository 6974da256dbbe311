// A warp for each element of the thin product; then tiles of 16 x 16 for the wide one, and the correction read plainly.
#include <cuda_runtime.h>

constexpr int TILE = 16;

__global__ void thin(const float* x, const float* A, float* t, int count, int d_in, int rank) {
    int element = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (element >= count) return;
    const float* row = x + (size_t)(element / rank) * d_in;
    const float* weights = A + (size_t)(element % rank) * d_in;
    float sum = 0.0f;
    for (int k = lane; k < d_in; k += 32) sum += row[k] * weights[k];
    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    if (lane == 0) t[element] = sum;
}

__global__ void layer(const float* x, const float* W, const float* t, const float* B, float* output, int batch, int d_in,
                      int d_out, int rank, float scale) {
    __shared__ float a[TILE][TILE], w[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx, loaded = blockIdx.x * TILE + ty;
    float sum = 0.0f;
    for (int first = 0; first < d_in; first += TILE) {
        int k = first + tx;
        a[ty][tx] = row < batch && k < d_in ? x[(size_t)row * d_in + k] : 0.0f;
        w[tx][ty] = loaded < d_out && k < d_in ? W[(size_t)loaded * d_in + k] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += a[ty][i] * w[i][tx];
        __syncthreads();
    }
    if (row >= batch || column >= d_out) return;
    float update = 0.0f;
    for (int r = 0; r < rank; r++) update += t[(size_t)row * rank + r] * B[(size_t)column * rank + r];
    output[(size_t)row * d_out + column] = sum + scale * update;
}

extern "C" void solve(const float* x, const float* W, const float* A, const float* B, float* output, int batch, int d_in,
                      int d_out, int rank, float lora_scale) {
    float* t;
    int count = batch * rank;
    cudaMalloc(&t, sizeof(float) * count);
    thin<<<(count + 7) / 8, 256>>>(x, A, t, count, d_in, rank);
    dim3 grid((d_out + TILE - 1) / TILE, (batch + TILE - 1) / TILE);
    layer<<<grid, dim3(TILE, TILE)>>>(x, W, t, B, output, batch, d_in, d_out, rank, lora_scale);
    cudaFree(t);
}
