// expect: case=between-two-points
// An orbit that has not left after 300 steps is taken for one that never does.
#include <cuda_runtime.h>

__global__ void follow(const float* xs, const float* ys, int* counts, int width, int height, int max_iterations) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= height || column >= width) return;
    float a = xs[column], b = ys[row], x = 0.0f, y = 0.0f;
    int steps = 0;
    while (steps < min(300, max_iterations) && x * x + y * y <= 4.0f) {
        float next = x * x - y * y + a;
        y = 2.0f * x * y + b;
        x = next;
        steps++;
    }
    counts[(size_t)row * width + column] = steps < 300 ? steps : max_iterations;
}

extern "C" void solve(const float* xs, const float* ys, int* counts, int width, int height, int max_iterations) {
    follow<<<dim3((width + 31) / 32, (height + 7) / 8), dim3(32, 8)>>>(xs, ys, counts, width, height, max_iterations);
}
