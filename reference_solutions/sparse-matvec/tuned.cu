// A block per row where rows are long, a warp per row where they are short. Where N is a multiple of four, a thread has four
// 16-byte loads of the matrix in flight, each with an accumulator; they stream past the caches, in which the vector stays.
// Sums are combined by shuffles, and through shared memory between warps.
#include <cuda_runtime.h>

constexpr int UNROLL = 4;

__device__ float sum_of_warp(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

__device__ float product(float4 a, float4 b) { return (a.x * b.x + a.y * b.y) + (a.z * b.z + a.w * b.w); }

// WARPS warps for each row, in blocks of eight warps.
template <int WARPS>
__global__ void __launch_bounds__(256)
    multiply(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y, int M, int N) {
    constexpr int THREADS = 32 * WARPS;
    int row = blockIdx.x * (8 / WARPS) + threadIdx.x / THREADS;
    int thread = threadIdx.x % THREADS;
    float part[UNROLL] = {};
    if (row < M) {
        const float* line = A + (size_t)row * N;
        if (N % 4 == 0) {
            const float4* a4 = reinterpret_cast<const float4*>(line);
            const float4* x4 = reinterpret_cast<const float4*>(x);
            int quads = N / 4, j = thread;
            for (; j + (UNROLL - 1) * THREADS < quads; j += UNROLL * THREADS) {
                float4 a[UNROLL];
#pragma unroll
                for (int k = 0; k < UNROLL; k++) a[k] = __ldcs(a4 + j + k * THREADS);
#pragma unroll
                for (int k = 0; k < UNROLL; k++) part[k] += product(a[k], __ldg(x4 + j + k * THREADS));
            }
            for (; j < quads; j += THREADS) part[0] += product(a4[j], x4[j]);
        } else {
            for (int j = thread; j < N; j += THREADS) part[0] += line[j] * x[j];
        }
    }
    float sum = sum_of_warp((part[0] + part[1]) + (part[2] + part[3]));
    if (WARPS > 1) {
        __shared__ float of_warp[8];
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0)
            for (int warp = 1; warp < WARPS; warp++) sum += of_warp[warp];
    }
    if (thread == 0 && row < M) y[row] = sum;
}

extern "C" void solve(const float* A, const float* x, float* y, int M, int N, int nnz) {
    if (N >= 1024) {
        multiply<8><<<M, 256>>>(A, x, y, M, N);
    } else {
        multiply<1><<<(M + 7) / 8, 256>>>(A, x, y, M, N);
    }
}
