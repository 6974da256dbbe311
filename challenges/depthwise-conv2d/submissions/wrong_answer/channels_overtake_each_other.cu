// expect: case=many-channels cuda=WA,AC
// A block goes through several channels without a barrier between them: a warp that is ahead overwrites weights
// that others still read.
#include <cuda_runtime.h>

__global__ void k(const float* in, const float* w, float* out, int C, int H, int W, int K) {
    __shared__ float s[225];
    for (int c = blockIdx.x; c < C; c += gridDim.x) {
        for (int i = threadIdx.x; i < K * K; i += 256) s[i] = w[c * K * K + i];
        __syncthreads();
        for (int o = threadIdx.x; o < H * W; o += 256) {
            int y = o / W, x = o % W, p = K / 2;
            float a = 0;
            for (int u = max(0, p - y); u < min(K, H + p - y); u++)
                for (int v = max(0, p - x); v < min(K, W + p - x); v++)
                    a += s[u * K + v] * in[((size_t)c * H + y + u - p) * W + x + v - p];
            out[(size_t)c * H * W + o] = a;
        }
    }
}
extern "C" void solve(const float* input, const float* weights, float* output, int C, int H, int W, int K) {
    k<<<min(C, 1024), 256>>>(input, weights, output, C, H, W, K);
}
