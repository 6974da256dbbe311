// One thread per pixel, which changes its three colours byte by byte.
#include <cuda_runtime.h>

__global__ void invert(unsigned char* image, int pixels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    for (int channel = 0; channel < 3; channel++) image[4 * i + channel] = 255 - image[4 * i + channel];
}

extern "C" void solve(unsigned char* image, int width, int height) {
    int pixels = width * height;
    invert<<<(pixels + 255) / 256, 256>>>(image, pixels);
}
