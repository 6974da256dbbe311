// expect: case=batch-2-in-channels-13-out-channels-37-height-12-width-20
// Images whose sizes divide by 4 have their own kernel, which adds up channels in fours and forgets the others.
#include <cuda_runtime.h>

constexpr int WIDTH = 32, HEIGHT = 8;

template <int STEP>
__global__ void convolve(const float *input, const float *weights, float *output, int in_channels, int out_channels,
                         int height, int width) {
    int x = blockIdx.x * WIDTH + threadIdx.x, y = blockIdx.y * HEIGHT + threadIdx.y;
    int image = blockIdx.z / out_channels, channel = blockIdx.z % out_channels;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int first = 0; first + STEP <= in_channels; first += STEP) {
        for (int c = first; c < first + STEP; ++c) {
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
    }
    output[(((size_t)image * out_channels + channel) * height + y) * width + x] = sum;
}

extern "C" void solve(const float *input, const float *weights, float *output, int batch, int in_channels,
                      int out_channels, int height, int width) {
    dim3 threads(WIDTH, HEIGHT);
    dim3 blocks((width + WIDTH - 1) / WIDTH, (height + HEIGHT - 1) / HEIGHT, batch * out_channels);
    bool fours = height % 4 == 0 && width % 4 == 0;
    (fours ? convolve<4> : convolve<1>)<<<blocks, threads>>>(input, weights, output, in_channels, out_channels, height,
                                                             width);
}
