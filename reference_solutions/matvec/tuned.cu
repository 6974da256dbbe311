// One block of four warps a row, which suits long rows, or one warp a row where rows are short. Rows whose length is a
// multiple of four are read in 16-byte loads, four of them under way in each thread.
#include <cuda_runtime.h>

constexpr int THREADS = 128;
constexpr int UNROLL = 4;

template <int WIDTH>  // threads a row
__global__ void __launch_bounds__(THREADS) multiply(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y, int m, int n) {
    __shared__ float of_warp[THREADS / 32];
    int row = blockIdx.x * (THREADS / WIDTH) + threadIdx.x / WIDTH;
    int t = threadIdx.x % WIDTH;
    float sum = 0.0f;
    if (row < m) {
        const float* from = A + (long long)row * n;
        if (n % 4 == 0) {
            const float4* quads = reinterpret_cast<const float4*>(from);
            const float4* factors = reinterpret_cast<const float4*>(x);
            int j = t;
            for (; j + (UNROLL - 1) * WIDTH < n / 4; j += UNROLL * WIDTH) {
                float4 a[UNROLL];
#pragma unroll
                for (int u = 0; u < UNROLL; u++) a[u] = __ldcs(quads + j + u * WIDTH);
#pragma unroll
                for (int u = 0; u < UNROLL; u++) {
                    float4 b = factors[j + u * WIDTH];
                    sum += (a[u].x * b.x + a[u].y * b.y) + (a[u].z * b.z + a[u].w * b.w);
                }
            }
            for (; j < n / 4; j += WIDTH) {
                float4 a = quads[j], b = factors[j];
                sum += (a.x * b.x + a.y * b.y) + (a.z * b.z + a.w * b.w);
            }
        } else {
#pragma unroll 4
            for (int j = t; j < n; j += WIDTH) sum += from[j] * x[j];
        }
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (WIDTH == 32) {
        if (t == 0 && row < m) y[row] = sum;
        return;
    }
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) y[row] = (of_warp[0] + of_warp[1]) + (of_warp[2] + of_warp[3]);
}

extern "C" void solve(const float* A, const float* x, float* y, int M, int N) {
    if (N >= 1024) multiply<THREADS><<<M, THREADS>>>(A, x, y, M, N);
    else multiply<32><<<(M + 3) / 4, THREADS>>>(A, x, y, M, N);
}
