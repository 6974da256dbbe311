// A thread per pixel, which goes through its window.
#include <cuda_runtime.h>

__global__ void filter(const float* image, float* output, float sigma_space, float sigma_range, int radius, int height, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= height || column >= width) return;
    float here = image[row * width + column], sum = 0.0f, total = 0.0f;
    for (int y = max(0, row - radius); y <= min(height - 1, row + radius); y++) {
        for (int x = max(0, column - radius); x <= min(width - 1, column + radius); x++) {
            float other = image[y * width + x], difference = other - here;
            float squares = (float)((y - row) * (y - row) + (x - column) * (x - column));
            float weight = expf(-squares / (2.0f * sigma_space * sigma_space) - difference * difference / (2.0f * sigma_range * sigma_range));
            sum += weight * other;
            total += weight;
        }
    }
    output[row * width + column] = sum / total;
}

extern "C" void solve(const float* image, float* output, float sigma_space, float sigma_range, int radius, int height, int width) {
    filter<<<dim3((width + 31) / 32, (height + 7) / 8), dim3(32, 8)>>>(image, output, sigma_space, sigma_range, radius, height, width);
}
