// The four outputs of a thread need the same inputs: it reads a column of eight into registers, where each serves up to four
// of them. Weights are padded with zeros to five layers, so that the loops over layers are unrolled.
#include <cuda_runtime.h>

constexpr int MOST = 5;
constexpr int COLS = 32, ROWS = 8, LAYERS = 4, COLUMN = LAYERS + MOST - 1;

__global__ void convolve(const float* input, const float* kernel, float* output, int input_depth, int input_rows,
                         int input_cols, int kernel_depth, int kernel_rows, int kernel_cols) {
    __shared__ float weights[MOST][MOST][MOST];
    int t = threadIdx.y * COLS + threadIdx.x;
    if (t < MOST * MOST * MOST) {
        int q = t % MOST, p = t / MOST % MOST, d = t / (MOST * MOST);
        bool there = q < kernel_cols && p < kernel_rows && d < kernel_depth;
        weights[d][p][q] = there ? kernel[(d * kernel_rows + p) * kernel_cols + q] : 0.0f;
    }
    __syncthreads();
    int depth = input_depth - kernel_depth + 1, rows = input_rows - kernel_rows + 1, cols = input_cols - kernel_cols + 1;
    int x = blockIdx.x * COLS + threadIdx.x, y = blockIdx.y * ROWS + threadIdx.y, first_z = blockIdx.z * LAYERS;
    if (x >= cols || y >= rows) return;
    // Layers that do not exist meet weights of zero, or make outputs that do not exist: the last one stands for them.
    const float* from[COLUMN];
#pragma unroll
    for (int l = 0; l < COLUMN; l++) {
        from[l] = input + (min(first_z + l, input_depth - 1) * input_rows + y) * input_cols + x;
    }
    float sum[LAYERS] = {};
    for (int p = 0; p < kernel_rows; p++) {
        for (int q = 0; q < kernel_cols; q++) {
            float column[COLUMN];
#pragma unroll
            for (int l = 0; l < COLUMN; l++) column[l] = from[l][p * input_cols + q];
#pragma unroll
            for (int d = 0; d < MOST; d++) {
                float weight = weights[d][p][q];
#pragma unroll
                for (int l = 0; l < LAYERS; l++) sum[l] += column[l + d] * weight;
            }
        }
    }
#pragma unroll
    for (int l = 0; l < LAYERS; l++)
        if (first_z + l < depth) output[((first_z + l) * rows + y) * cols + x] = sum[l];
}

extern "C" void solve(const float* input, const float* kernel, float* output, int input_depth, int input_rows,
                      int input_cols, int kernel_depth, int kernel_rows, int kernel_cols) {
    int depth = input_depth - kernel_depth + 1, rows = input_rows - kernel_rows + 1, cols = input_cols - kernel_cols + 1;
    dim3 blocks((cols + COLS - 1) / COLS, (rows + ROWS - 1) / ROWS, (depth + LAYERS - 1) / LAYERS);
    convolve<<<blocks, dim3(COLS, ROWS)>>>(input, kernel, output, input_depth, input_rows, input_cols, kernel_depth,
                                           kernel_rows, kernel_cols);
}
