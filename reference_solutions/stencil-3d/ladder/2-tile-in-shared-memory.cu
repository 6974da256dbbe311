// The block's part of a layer lies in shared memory with a rim, for the four neighbours in the layer; those above and below
// come from memory.
#include <cuda_runtime.h>

constexpr int WIDTH = 32, HEIGHT = 8;

__global__ void step(const float* input, float* output, float rate, int depth, int rows, int cols) {
    __shared__ float tile[HEIGHT + 2][WIDTH + 2];
    int x = blockIdx.x * WIDTH + threadIdx.x, y = blockIdx.y * HEIGHT + threadIdx.y, z = blockIdx.z;
    int layer = rows * cols, i = z * layer + y * cols + x;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    bool is_there = x < cols && y < rows;
    bool is_inner = is_there && x > 0 && x + 1 < cols && y > 0 && y + 1 < rows && z > 0 && z + 1 < depth;
    float here = is_there ? input[i] : 0.0f;
    tile[ty][tx] = here;
    if (is_inner && threadIdx.x == 0) tile[ty][0] = input[i - 1];
    if (is_inner && threadIdx.x == WIDTH - 1) tile[ty][WIDTH + 1] = input[i + 1];
    if (is_inner && threadIdx.y == 0) tile[0][tx] = input[i - cols];
    if (is_inner && threadIdx.y == HEIGHT - 1) tile[HEIGHT + 1][tx] = input[i + cols];
    __syncthreads();
    if (is_inner) {
        float sum = input[i - layer] + input[i + layer] + tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1];
        here += rate * (sum - 6.0f * here);
    }
    if (is_there) output[i] = here;
}

extern "C" void solve(const float* input, float* output, float rate, int depth, int rows, int cols) {
    dim3 blocks((cols + WIDTH - 1) / WIDTH, (rows + HEIGHT - 1) / HEIGHT, depth);
    step<<<blocks, dim3(WIDTH, HEIGHT)>>>(input, output, rate, depth, rows, cols);
}
