// A thread goes through 16 layers and keeps what is below, at and above it in registers: one new number a layer in place
// of three. The neighbours in the layer come through the caches.
#include <cuda_runtime.h>

constexpr int WIDTH = 32, HEIGHT = 8, LAYERS = 16;

__global__ void step(const float* input, float* output, float rate, int depth, int rows, int cols) {
    int x = blockIdx.x * WIDTH + threadIdx.x, y = blockIdx.y * HEIGHT + threadIdx.y;
    if (x >= cols || y >= rows) return;
    int first = blockIdx.z * LAYERS, last = min(first + LAYERS, depth);
    int layer = rows * cols, i = first * layer + y * cols + x;
    bool is_inner = x > 0 && x + 1 < cols && y > 0 && y + 1 < rows;
    float below = first > 0 ? input[i - layer] : 0.0f, here = input[i];
    for (int z = first; z < last; z++, i += layer) {
        float above = z + 1 < depth ? input[i + layer] : 0.0f, result = here;
        if (is_inner && z > 0 && z + 1 < depth) {
            float sum = below + above + input[i - cols] + input[i + cols] + input[i - 1] + input[i + 1];
            result += rate * (sum - 6.0f * here);
        }
        output[i] = result;
        below = here;
        here = above;
    }
}

extern "C" void solve(const float* input, float* output, float rate, int depth, int rows, int cols) {
    dim3 blocks((cols + WIDTH - 1) / WIDTH, (rows + HEIGHT - 1) / HEIGHT, (depth + LAYERS - 1) / LAYERS);
    step<<<blocks, dim3(WIDTH, HEIGHT)>>>(input, output, rate, depth, rows, cols);
}
