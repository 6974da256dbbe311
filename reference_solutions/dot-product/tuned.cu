// One pass: as many threads as the device holds stride through both vectors, with two 16-byte loads of each in flight and
// an accumulator for each; then shuffles within the warps, one more over the warps of a block, and one atomicAdd per block
// into the zeroed result.
#include <cuda_runtime.h>

constexpr int THREADS = 512;
constexpr int BLOCKS_PER_MULTIPROCESSOR = 4;
constexpr int UNROLL = 2;

__device__ float sum_of_warp(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

__device__ float product(float4 a, float4 b) { return (a.x * b.x + a.y * b.y) + (a.z * b.z + a.w * b.w); }

__global__ void __launch_bounds__(THREADS)
    dot(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ result, int N) {
    const float4* a4 = reinterpret_cast<const float4*>(A);
    const float4* b4 = reinterpret_cast<const float4*>(B);
    int quads = N / 4, stride = gridDim.x * THREADS;
    int i = blockIdx.x * THREADS + threadIdx.x;
    float part[UNROLL] = {};
    for (; i + (UNROLL - 1) * stride < quads; i += UNROLL * stride) {
        float4 a[UNROLL], b[UNROLL];
#pragma unroll
        for (int j = 0; j < UNROLL; j++) a[j] = __ldcs(a4 + i + j * stride), b[j] = __ldcs(b4 + i + j * stride);
#pragma unroll
        for (int j = 0; j < UNROLL; j++) part[j] += product(a[j], b[j]);
    }
    for (; i < quads; i += stride) part[0] += product(a4[i], b4[i]);
    int tail = quads * 4 + threadIdx.x;
    if (blockIdx.x == 0 && tail < N) part[1] += A[tail] * B[tail];

    __shared__ float of_warp[THREADS / 32];
    float sum = sum_of_warp(part[0] + part[1]);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = sum_of_warp(threadIdx.x < THREADS / 32 ? of_warp[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) atomicAdd(result, sum);
}

extern "C" void solve(const float* A, const float* B, float* result, int N) {
    int device = 0, multiprocessors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    int blocks = min((N + THREADS * 4 - 1) / (THREADS * 4), multiprocessors * BLOCKS_PER_MULTIPROCESSOR);
    dot<<<blocks, THREADS>>>(A, B, result, N);
}
