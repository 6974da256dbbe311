// One thread a pixel of the result.
#include <cuda_runtime.h>

__global__ void resize(const float* input, float* output, int height, int width, int out_h, int out_w) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= out_h || j >= out_w) return;
    float y = fminf(fmaxf((i + 0.5f) * height / out_h - 0.5f, 0.0f), height - 1.0f);
    float x = fminf(fmaxf((j + 0.5f) * width / out_w - 0.5f, 0.0f), width - 1.0f);
    int top = (int)y, left = (int)x;
    int bottom = min(top + 1, height - 1), right = min(left + 1, width - 1);
    float f = y - top, g = x - left;
    float above = (1.0f - g) * input[top * width + left] + g * input[top * width + right];
    float below = (1.0f - g) * input[bottom * width + left] + g * input[bottom * width + right];
    output[i * out_w + j] = (1.0f - f) * above + f * below;
}

extern "C" void solve(const float* input, float* output, int H, int W, int out_h, int out_w) {
    resize<<<dim3((out_w + 31) / 32, (out_h + 7) / 8), dim3(32, 8)>>>(input, output, H, W, out_h, out_w);
}
