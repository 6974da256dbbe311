// A block makes a box of 32 columns, 8 rows and 8 layers, each of its 256 threads a column of eight outputs through the
// layers, in registers. The inputs of the box and its margin lie in shared memory, with zeros for what does not exist, and
// so do the weights, padded with zeros to five layers: so the loops over layers are unrolled, and twelve inputs and five
// weights serve forty multiply-adds.
#include <cuda_runtime.h>

constexpr int COLS = 32, ROWS = 8, LAYERS = 8;
constexpr int KERNEL = 5, MARGIN = KERNEL - 1;
constexpr int THREADS = COLS * ROWS;

__global__ void __launch_bounds__(THREADS)
    convolve(const float* __restrict__ input, const float* __restrict__ kernel, float* __restrict__ output,
             int input_depth, int input_rows, int input_cols, int kernel_depth, int kernel_rows, int kernel_cols) {
    __shared__ float volume[LAYERS + MARGIN][ROWS + MARGIN][COLS + MARGIN];
    __shared__ float weights[KERNEL][KERNEL][KERNEL];
    int first_x = blockIdx.x * COLS, first_y = blockIdx.y * ROWS, first_z = blockIdx.z * LAYERS;

    for (int i = threadIdx.x; i < KERNEL * KERNEL * KERNEL; i += THREADS) {
        int q = i % KERNEL, p = i / KERNEL % KERNEL, d = i / (KERNEL * KERNEL);
        bool there = q < kernel_cols && p < kernel_rows && d < kernel_depth;
        weights[d][p][q] = there ? kernel[(d * kernel_rows + p) * kernel_cols + q] : 0.0f;
    }
    constexpr int WIDTH = COLS + MARGIN, HEIGHT = ROWS + MARGIN;
    for (int i = threadIdx.x; i < (LAYERS + MARGIN) * HEIGHT * WIDTH; i += THREADS) {
        int c = i % WIDTH, r = i / WIDTH % HEIGHT, l = i / (WIDTH * HEIGHT);
        int x = first_x + c, y = first_y + r, z = first_z + l;
        bool there = x < input_cols && y < input_rows && z < input_depth;
        volume[l][r][c] = there ? input[(z * input_rows + y) * input_cols + x] : 0.0f;
    }
    __syncthreads();

    int x = threadIdx.x % COLS, y = threadIdx.x / COLS;
    float sum[LAYERS] = {};
    for (int p = 0; p < kernel_rows; p++) {
        for (int q = 0; q < kernel_cols; q++) {
            float column[LAYERS + MARGIN];
#pragma unroll
            for (int l = 0; l < LAYERS + MARGIN; l++) column[l] = volume[l][y + p][x + q];
#pragma unroll
            for (int d = 0; d < KERNEL; d++) {
                float w = weights[d][p][q];
#pragma unroll
                for (int l = 0; l < LAYERS; l++) sum[l] += column[l + d] * w;
            }
        }
    }

    int depth = input_depth - kernel_depth + 1, rows = input_rows - kernel_rows + 1, cols = input_cols - kernel_cols + 1;
    if (first_x + x >= cols || first_y + y >= rows) return;
#pragma unroll
    for (int l = 0; l < LAYERS; l++)
        if (first_z + l < depth) output[((first_z + l) * rows + first_y + y) * cols + first_x + x] = sum[l];
}

extern "C" void solve(const float* input, const float* kernel, float* output, int input_depth, int input_rows,
                      int input_cols, int kernel_depth, int kernel_rows, int kernel_cols) {
    int depth = input_depth - kernel_depth + 1, rows = input_rows - kernel_rows + 1, cols = input_cols - kernel_cols + 1;
    dim3 blocks((cols + COLS - 1) / COLS, (rows + ROWS - 1) / ROWS, (depth + LAYERS - 1) / LAYERS);
    convolve<<<blocks, THREADS>>>(input, kernel, output, input_depth, input_rows, input_cols, kernel_depth, kernel_rows,
                                  kernel_cols);
}
