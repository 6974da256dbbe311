// expect: case=n-2203-c-70 cuda=WA,AC
// A block goes through several rows without a barrier between them: a warp that is ahead writes its sum of the next row before
// others have read that of this one.
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__device__ float2 block_sums(float left, float right) {
    __shared__ float2 of_warp[THREADS / 32];
    for (int mask = 16; mask > 0; mask /= 2) {
        left += __shfl_xor_sync(0xffffffffu, left, mask);
        right += __shfl_xor_sync(0xffffffffu, right, mask);
    }
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = make_float2(left, right);
    __syncthreads();
    left = right = 0.0f;
    for (int w = 0; w < THREADS / 32; w++) {
        left += of_warp[w].x;
        right += of_warp[w].y;
    }
    return make_float2(left, right);
}

// HELD elements of a row in each thread.
template <int HELD>
__global__ void __launch_bounds__(THREADS)
    gradients(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ dy, float* __restrict__ dx,
              float* __restrict__ dweight, int N, int C, float eps) {
    float of_weight[HELD] = {}, w[HELD];
    int t = threadIdx.x;
#pragma unroll
    for (int h = 0; h < HELD; h++) w[h] = t + h * THREADS < C ? weight[t + h * THREADS] : 0.0f;
    for (size_t n = blockIdx.x; n < N; n += gridDim.x) {
        float own[HELD], slope[HELD], squares = 0.0f, along = 0.0f;
#pragma unroll
        for (int h = 0; h < HELD; h++) {
            int c = t + h * THREADS;
            own[h] = c < C ? __ldcs(&x[n * C + c]) : 0.0f;
            slope[h] = c < C ? __ldcs(&dy[n * C + c]) : 0.0f;
        }
#pragma unroll
        for (int h = 0; h < HELD; h++) {
            squares = fmaf(own[h], own[h], squares);
            along = fmaf(slope[h] * w[h], own[h], along);
        }
        float2 sums = block_sums(squares, along);
        float factor = rsqrtf(sums.x / C + eps);
        along = sums.y * factor / C;
#pragma unroll
        for (int h = 0; h < HELD; h++) {
            int c = t + h * THREADS;
            own[h] *= factor;
            of_weight[h] = fmaf(slope[h], own[h], of_weight[h]);
            if (c < C) __stcs(&dx[n * C + c], factor * (slope[h] * w[h] - own[h] * along));
        }
    }
#pragma unroll
    for (int h = 0; h < HELD; h++) {
        int c = t + h * THREADS;
        if (c >= C) continue;
        atomicAdd(&dweight[c], of_weight[h]);
    }
}

extern "C" void solve(const float* x, const float* weight, const float* dy, float* dx, float* dweight, int N, int C, float eps) {
    int blocks = min(N, 1056);
    cudaMemsetAsync(dweight, 0, sizeof(float) * C);
    auto kernel = C <= 256 ? gradients<1> : C <= 512 ? gradients<2> : C <= 1024 ? gradients<4> : C <= 2048 ? gradients<8> : gradients<16>;
    kernel<<<blocks, THREADS>>>(x, weight, dy, dx, dweight, N, C, eps);
}
