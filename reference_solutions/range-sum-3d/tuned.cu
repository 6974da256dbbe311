// Each warp takes whole rows of the box, one after another, as many warps as the device holds; it finds layer and row once
// and goes along the row with eight loads in flight per thread. Sums stay in a register until the end; then shuffles within
// the warps, one more over the warps of a block, and one atomicAdd per block.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int PER_THREAD = 8;
constexpr int BLOCKS_PER_MULTIPROCESSOR = 8;

__device__ int sum_of_warp(int value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

__global__ void __launch_bounds__(THREADS)
    sum_box(const int* __restrict__ corner, int* __restrict__ output, int M, int K, int layers, int rows, int cols) {
    int lane = threadIdx.x % 32;
    int part = 0;
    for (int i = blockIdx.x * WARPS + threadIdx.x / 32; i < layers * rows; i += gridDim.x * WARPS) {
        const int* row = corner + (size_t)(i / rows * M + i % rows) * K;
        for (int column = lane; column < cols; column += 32 * PER_THREAD) {
            int v[PER_THREAD] = {};
#pragma unroll
            for (int j = 0; j < PER_THREAD; j++)
                if (column + 32 * j < cols) v[j] = __ldcs(row + column + 32 * j);
#pragma unroll
            for (int j = 0; j < PER_THREAD; j++) part += v[j];
        }
    }

    __shared__ int of_warp[THREADS / 32];
    int sum = sum_of_warp(part);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = sum_of_warp(threadIdx.x < THREADS / 32 ? of_warp[threadIdx.x] : 0);
    if (threadIdx.x == 0) atomicAdd(output, sum);
}

extern "C" void solve(const int* input, int* output, int N, int M, int K, int S_DEP, int E_DEP, int S_ROW, int E_ROW,
                      int S_COL, int E_COL) {
    int layers = E_DEP - S_DEP + 1, rows = E_ROW - S_ROW + 1, cols = E_COL - S_COL + 1;
    int device = 0, multiprocessors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    int blocks = min((layers * rows + WARPS - 1) / WARPS, multiprocessors * BLOCKS_PER_MULTIPROCESSOR);
    const int* corner = input + ((size_t)S_DEP * M + S_ROW) * K + S_COL;
    sum_box<<<blocks, THREADS>>>(corner, output, M, K, layers, rows, cols);
}
