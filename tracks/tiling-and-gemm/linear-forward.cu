// Both operands are read along their rows; the weights' tile is stored transposed, with a float of padding in each row.
#include <cuda_runtime.h>

constexpr int TILE = 16;

__global__ void linear(const float* input, const float* weight, const float* bias, float* output, int batch,
                       int in_features, int out_features) {
    __shared__ float x[TILE][TILE], w[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int sample = blockIdx.y * TILE + ty, feature = blockIdx.x * TILE + tx;
    int loaded = blockIdx.x * TILE + ty;  // whose weights this thread loads
    float sum = feature < out_features ? bias[feature] : 0.0f;
    for (int first = 0; first < in_features; first += TILE) {
        int i = first + tx;
        x[ty][tx] = sample < batch && i < in_features ? input[(size_t)sample * in_features + i] : 0.0f;
        w[tx][ty] = loaded < out_features && i < in_features ? weight[(size_t)loaded * in_features + i] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += x[ty][k] * w[k][tx];
        __syncthreads();
    }
    if (sample < batch && feature < out_features) output[(size_t)sample * out_features + feature] = sum;
}

extern "C" void solve(const float* input, const float* weight, const float* bias, float* output, int batch,
                      int in_features, int out_features) {
    dim3 grid((out_features + TILE - 1) / TILE, (batch + TILE - 1) / TILE);
    linear<<<grid, dim3(TILE, TILE)>>>(input, weight, bias, output, batch, in_features, out_features);
}
