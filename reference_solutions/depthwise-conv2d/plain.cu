// One thread an output; the block's index gives the channel.
#include <cuda_runtime.h>

__global__ void filter(const float* input, const float* weights, float* output, int height, int width, int size) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, channel = blockIdx.z;
    if (x >= width || y >= height) return;
    input += channel * height * width;
    weights += channel * size * size;
    float sum = 0.0f;
    for (int u = 0; u < size; u++) {
        int r = y + u - size / 2;
        if (r < 0 || r >= height) continue;
        for (int v = 0; v < size; v++) {
            int c = x + v - size / 2;
            if (c >= 0 && c < width) sum += weights[u * size + v] * input[r * width + c];
        }
    }
    output[(channel * height + y) * width + x] = sum;
}

extern "C" void solve(const float* input, const float* weights, float* output, int C, int H, int W, int K) {
    filter<<<dim3((W + 31) / 32, (H + 7) / 8, C), dim3(32, 8)>>>(input, weights, output, H, W, K);
}
