// expect: case=n-17-c-67-h-3-w-70-kernel-size-2-stride-1-padding-0 cuda=WA,AC
// A block goes through several rows without a barrier between them: a warp that is ahead overwrites sums
// that others still read.
#include <cuda_runtime.h>

__global__ void k(const float* in, float* out, int P, int H, int W, int k, int s, int p, int oh, int ow) {
    __shared__ float c[4096];
    for (long q = blockIdx.x; q < (long)P * oh; q += gridDim.x) {
        int i = q % oh;
        const float* a = in + q / oh * H * W;
        for (int x = threadIdx.x; x < W; x += 128) {
            float t = 0;
            for (int u = max(0, p - i * s); u < k && i * s + u - p < H; u++) t += a[(size_t)(i * s + u - p) * W + x];
            c[x] = t;
        }
        __syncthreads();
        for (int j = threadIdx.x; j < ow; j += 128) {
            float t = 0;
            for (int v = max(0, p - j * s); v < k && j * s + v - p < W; v++) t += c[j * s + v - p];
            out[q * ow + j] = t / (k * k);
        }
    }
}
extern "C" void solve(const float* input, float* output, int N, int C, int H, int W, int kernel_size, int stride,
                      int padding) {
    int oh = (H + 2 * padding - kernel_size) / stride + 1, ow = (W + 2 * padding - kernel_size) / stride + 1;
    k<<<(int)min((long)N * C * oh, 2112l), 128>>>(input, output, N * C, H, W, kernel_size, stride, padding, oh, ow);
}
