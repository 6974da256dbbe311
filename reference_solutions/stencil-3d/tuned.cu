// A block takes a rectangle of 64 by 8 columns and goes through 32 layers: the numbers below, at and above stay in
// registers, so that each comes from memory once, and the layer at hand is shared among the threads with a rim around it.
#include <cuda_runtime.h>

constexpr int WIDTH = 64;
constexpr int HEIGHT = 8;
constexpr int LAYERS = 32;

__global__ void __launch_bounds__(WIDTH * HEIGHT) step(const float* __restrict__ input, float* __restrict__ output, float rate, int depth, int rows,
                                                        int cols) {
    __shared__ float tile[2][HEIGHT + 2][WIDTH + 2];
    int x = blockIdx.x * WIDTH + threadIdx.x, y = blockIdx.y * HEIGHT + threadIdx.y;
    int first = blockIdx.z * LAYERS, last = min(first + LAYERS, depth);
    int layer = rows * cols, i = first * layer + y * cols + x;
    bool is_there = x < cols && y < rows;
    bool is_inner = is_there && x > 0 && x + 1 < cols && y > 0 && y + 1 < rows;
    float below = is_there && first > 0 ? input[i - layer] : 0.0f;
    float here = is_there ? input[i] : 0.0f;
    for (int z = first; z < last; z++, i += layer) {
        float above = is_there && z + 1 < depth ? input[i + layer] : 0.0f;
        // Two tiles in turn: nobody overwrites what others still read, with one barrier a layer.
        float(*now)[WIDTH + 2] = tile[z % 2];
        int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
        now[ty][tx] = here;
        if (is_inner && threadIdx.x == 0) now[ty][0] = input[i - 1];
        if (is_inner && threadIdx.x == WIDTH - 1) now[ty][WIDTH + 1] = input[i + 1];
        if (is_inner && threadIdx.y == 0) now[0][tx] = input[i - cols];
        if (is_inner && threadIdx.y == HEIGHT - 1) now[HEIGHT + 1][tx] = input[i + cols];
        __syncthreads();
        float result = here;
        if (is_inner && z > 0 && z + 1 < depth) {
            float sum = (below + above) + (now[ty - 1][tx] + now[ty + 1][tx]) + (now[ty][tx - 1] + now[ty][tx + 1]);
            result += rate * (sum - 6.0f * here);
        }
        if (is_there) __stcs(output + i, result);
        below = here;
        here = above;
    }
}

extern "C" void solve(const float* input, float* output, float rate, int depth, int rows, int cols) {
    dim3 blocks((cols + WIDTH - 1) / WIDTH, (rows + HEIGHT - 1) / HEIGHT, (depth + LAYERS - 1) / LAYERS);
    step<<<blocks, dim3(WIDTH, HEIGHT)>>>(input, output, rate, depth, rows, cols);
}
