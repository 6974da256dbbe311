// expect: case=many-tiles
// A block in y for each tile of 2 x 2 outputs of each image: a grid has 65,535 there, and there may be a million.
#include <cuda_runtime.h>

constexpr int THREADS = 32;

__global__ void convolve(const float *input, const float *weights, float *output, int in_channels, int out_channels,
                         int height, int width) {
    int across = (width + 1) / 2, down = (height + 1) / 2;
    int image = blockIdx.y / (across * down);
    int top = blockIdx.y / across % down * 2, left = blockIdx.y % across * 2;
    for (int i = threadIdx.x; i < 4 * out_channels; i += THREADS) {
        int channel = i / 4, y = top + i / 2 % 2, x = left + i % 2;
        if (y >= height || x >= width) continue;
        float sum = 0;
        for (int c = 0; c < in_channels; ++c) {
            const float *plane = input + ((size_t)image * in_channels + c) * height * width;
            const float *taps = weights + ((size_t)channel * in_channels + c) * 9;
            for (int p = 0; p < 3; ++p) {
                for (int q = 0; q < 3; ++q) {
                    int row = y + p - 1, col = x + q - 1;
                    bool inside = row >= 0 && row < height && col >= 0 && col < width;
                    if (inside) sum += taps[3 * p + q] * plane[row * width + col];
                }
            }
        }
        output[(((size_t)image * out_channels + channel) * height + y) * width + x] = sum;
    }
}

extern "C" void solve(const float *input, const float *weights, float *output, int batch, int in_channels,
                      int out_channels, int height, int width) {
    int tiles = batch * ((height + 1) / 2) * ((width + 1) / 2);
    convolve<<<dim3(1, tiles), THREADS>>>(input, weights, output, in_channels, out_channels, height, width);
}
