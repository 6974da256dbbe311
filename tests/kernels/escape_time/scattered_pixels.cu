// The pixels of a warp are spread over the picture: the slowest of 32 unlike ones holds up the others.
#include <cuda_runtime.h>

// Steps until |z|^2 is above four; no multiplication is fused with an addition, so that the answer is exact.
__device__ int escape(int px, int py, int height, int width, int limit) {
    float cx = __fadd_rn(__fmul_rn(px, __fdiv_rn(3.0f, width)), -2.0f);
    float cy = __fadd_rn(__fmul_rn(py, __fdiv_rn(2.5f, height)), -1.25f);
    float x = 0, y = 0;
    int n = 0;
    for (; n < limit; n++) {
        float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
        if (__fadd_rn(xx, yy) > 4) break;
        float xy = __fmul_rn(x, y);
        y = __fadd_rn(__fadd_rn(xy, xy), cy);
        x = __fadd_rn(__fsub_rn(xx, yy), cx);
    }
    return n;
}

__global__ void render(int *out, int height, int width, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, count = height * width;
    if (i >= count) return;
    // 12289 is a prime: each pixel is met once, unless the count is a multiple of it.
    int pixel = (int)((long long)i * 12289 % count);
    out[pixel] = escape(pixel % width, pixel / width, height, width, limit);
}

extern "C" void solve(int *out, int height, int width, int limit) {
    render<<<(height * width + 255) / 256, 256>>>(out, height, width, limit);
}
