// expect: case=on-the-circle
// An orbit that touches the circle of radius 2 counts as gone: for c = -2 it stays there for ever.
#include <cuda_runtime.h>

__global__ void escape(const float* xs, const float* ys, int* counts, int width, int height, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height) return;
    float cx = xs[i % width], cy = ys[i / width], x = 0, y = 0;
    int step = 0;
    do {
        float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        ++step;
    } while (step < limit && x * x + y * y < 4);
    counts[i] = step;
}

extern "C" void solve(const float* xs, const float* ys, int* counts, int width, int height, int max_iterations) {
    escape<<<(width * height + 255) / 256, 256>>>(xs, ys, counts, width, height, max_iterations);
}
