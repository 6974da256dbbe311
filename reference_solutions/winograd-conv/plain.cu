// A thread per output, nine products for each input channel.
#include <cuda_runtime.h>

__global__ void convolve(const float* input, const float* weights, float* output, int in_channels, int out_channels, int height, int width) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    int k = blockIdx.y, n = blockIdx.z;
    if (point >= height * width) return;
    int row = point / width, column = point % width;
    float sum = 0.0f;
    for (int c = 0; c < in_channels; c++) {
        const float* image = input + ((size_t)n * in_channels + c) * height * width;
        const float* taps = weights + ((size_t)k * in_channels + c) * 9;
        for (int p = 0; p < 3; p++) {
            for (int q = 0; q < 3; q++) {
                int y = row + p - 1, x = column + q - 1;
                if (y >= 0 && y < height && x >= 0 && x < width) sum += taps[3 * p + q] * image[y * width + x];
            }
        }
    }
    output[((size_t)n * out_channels + k) * height * width + point] = sum;
}

extern "C" void solve(const float* input, const float* weights, float* output, int batch, int in_channels, int out_channels, int height,
                      int width) {
    dim3 blocks((height * width + 127) / 128, out_channels, batch);
    convolve<<<blocks, 128>>>(input, weights, output, in_channels, out_channels, height, width);
}
