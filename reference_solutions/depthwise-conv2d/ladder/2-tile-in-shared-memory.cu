// A tile of 32 x 8 outputs with its rim lies in shared memory, and so do the weights. Zeros stand where the image ends, so
// that the loop asks nothing.
#include <cuda_runtime.h>

constexpr int COLS = 32, ROWS = 8, LARGEST = 15;

__global__ void filter(const float* input, const float* weights, float* output, int height, int width, int size) {
    __shared__ float tile[ROWS + LARGEST - 1][COLS + LARGEST - 1], taps[LARGEST * LARGEST];
    int left = blockIdx.x * COLS - size / 2, top = blockIdx.y * ROWS - size / 2;
    size_t channel = (size_t)blockIdx.z * height * width;
    int t = threadIdx.y * COLS + threadIdx.x;
    if (t < size * size) taps[t] = weights[(size_t)blockIdx.z * size * size + t];
    for (int i = threadIdx.y; i < ROWS + size - 1; i += ROWS) {
        for (int j = threadIdx.x; j < COLS + size - 1; j += COLS) {
            int r = top + i, c = left + j;
            tile[i][j] = r >= 0 && r < height && c >= 0 && c < width ? input[channel + (size_t)r * width + c] : 0.0f;
        }
    }
    __syncthreads();
    int x = blockIdx.x * COLS + threadIdx.x, y = blockIdx.y * ROWS + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0f;
    for (int u = 0; u < size; u++)
        for (int v = 0; v < size; v++) sum += taps[u * size + v] * tile[threadIdx.y + u][threadIdx.x + v];
    output[channel + (size_t)y * width + x] = sum;
}

extern "C" void solve(const float* input, const float* weights, float* output, int C, int H, int W, int K) {
    filter<<<dim3((W + COLS - 1) / COLS, (H + ROWS - 1) / ROWS, C), dim3(COLS, ROWS)>>>(input, weights, output, H, W, K);
}
