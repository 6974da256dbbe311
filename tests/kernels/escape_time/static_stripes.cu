// As many blocks as are at work at once, each with a fixed stripe of rows: those in the middle have most to do.
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
    int first = (int)((long long)height * blockIdx.x / gridDim.x), last = (int)((long long)height * (blockIdx.x + 1) / gridDim.x);
    for (int i = first * width + threadIdx.x; i < last * width; i += blockDim.x) {
        out[i] = escape(i % width, i / width, height, width, limit);
    }
}

extern "C" void solve(int *out, int height, int width, int limit) {
    render<<<min(height, 512), 256>>>(out, height, width, limit);
}
