// As many threads as the device holds stride through it, with four 16-byte loads in flight each, and
// count in a register; then shuffles within the warps, one more over the warps of a block, and one atomicAdd per block.
#include <cuda_runtime.h>

constexpr int THREADS = 512;
constexpr int BLOCKS_PER_MULTIPROCESSOR = 4;
constexpr int UNROLL = 4;

__device__ int sum_of_warp(int value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

__global__ void __launch_bounds__(THREADS)
    count(const int* __restrict__ input, int* __restrict__ output, int N, int value) {
    const int4* quads = reinterpret_cast<const int4*>(input);
    int quad_count = N / 4, stride = gridDim.x * THREADS;
    int i = blockIdx.x * THREADS + threadIdx.x;
    int found = 0;
    for (; i + (UNROLL - 1) * stride < quad_count; i += UNROLL * stride) {
        int4 v[UNROLL];
#pragma unroll
        for (int j = 0; j < UNROLL; j++) v[j] = __ldcs(quads + i + j * stride);
#pragma unroll
        for (int j = 0; j < UNROLL; j++)
            found += (v[j].x == value) + (v[j].y == value) + (v[j].z == value) + (v[j].w == value);
    }
    for (; i < quad_count; i += stride) {
        int4 v = quads[i];
        found += (v.x == value) + (v.y == value) + (v.z == value) + (v.w == value);
    }
    int tail = quad_count * 4 + threadIdx.x;
    if (blockIdx.x == 0 && tail < N) found += input[tail] == value;

    __shared__ int of_warp[THREADS / 32];
    int sum = sum_of_warp(found);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = sum_of_warp(threadIdx.x < THREADS / 32 ? of_warp[threadIdx.x] : 0);
    if (threadIdx.x == 0) atomicAdd(output, sum);
}

extern "C" void solve(const int* input, int* output, int N, int K) {
    int device = 0, multiprocessors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    int blocks = min((N + THREADS * 4 - 1) / (THREADS * 4), multiprocessors * BLOCKS_PER_MULTIPROCESSOR);
    count<<<blocks, THREADS>>>(input, output, N, K);
}
