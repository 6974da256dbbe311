// The aligned part of the range in 16-byte pieces, through which as many threads as the device holds stride with four loads
// in flight; at most three elements before it and three after it singly. Then shuffles within the warps, one more over the
// warps of a block, and one atomicAdd per block.
#include <cuda_runtime.h>

constexpr int THREADS = 512;
constexpr int BLOCKS_PER_MULTIPROCESSOR = 4;
constexpr int UNROLL = 4;

__device__ int sum_of_warp(int value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

__device__ int sum_of(int4 v) { return (v.x + v.y) + (v.z + v.w); }

// The range is [begin, end).
__global__ void __launch_bounds__(THREADS) sum_range(const int* __restrict__ input, int* __restrict__ output, int begin, int end) {
    int aligned = min((begin + 3) / 4 * 4, end);
    int quads = (end - aligned) / 4;
    const int4* pieces = reinterpret_cast<const int4*>(input + aligned);
    int stride = gridDim.x * THREADS;
    int i = blockIdx.x * THREADS + threadIdx.x;
    int part = 0;
    for (; i + (UNROLL - 1) * stride < quads; i += UNROLL * stride) {
        int4 v[UNROLL];
#pragma unroll
        for (int j = 0; j < UNROLL; j++) v[j] = __ldcs(pieces + i + j * stride);
#pragma unroll
        for (int j = 0; j < UNROLL; j++) part += sum_of(v[j]);
    }
    for (; i < quads; i += stride) part += sum_of(pieces[i]);
    if (blockIdx.x == 0) {
        int before = begin + threadIdx.x, after = aligned + quads * 4 + threadIdx.x;
        if (before < aligned) part += input[before];
        if (after < end) part += input[after];
    }

    __shared__ int of_warp[THREADS / 32];
    int sum = sum_of_warp(part);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = sum_of_warp(threadIdx.x < THREADS / 32 ? of_warp[threadIdx.x] : 0);
    if (threadIdx.x == 0) atomicAdd(output, sum);
}

extern "C" void solve(const int* input, int* output, int N, int S, int E) {
    int device = 0, multiprocessors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    int blocks = min((E - S + THREADS * 4 - 1) / (THREADS * 4), multiprocessors * BLOCKS_PER_MULTIPROCESSOR);
    sum_range<<<max(blocks, 1), THREADS>>>(input, output, S, E + 1);
}
