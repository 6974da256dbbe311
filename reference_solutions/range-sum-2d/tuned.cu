// Blocks take stretches of 2048 columns of the rectangle and stride down its rows: eight loads of a row are in flight per
// thread, side by side within each warp. Sums stay in a register until the end; then shuffles within the warps, one more
// over the warps of a block, and one atomicAdd per block.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int PER_THREAD = 8;
constexpr int STRETCH = THREADS * PER_THREAD;
constexpr int BLOCKS_PER_MULTIPROCESSOR = 8;

__device__ int sum_of_warp(int value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

__global__ void __launch_bounds__(THREADS)
    sum_rectangle(const int* __restrict__ corner, int* __restrict__ output, int M, int rows, int cols) {
    int first = blockIdx.x * STRETCH + threadIdx.x;
    bool whole = blockIdx.x * STRETCH + STRETCH <= cols;
    int part = 0;
    for (int row = blockIdx.y; row < rows; row += gridDim.y) {
        const int* from = corner + (size_t)row * M + first;
        int v[PER_THREAD] = {};
        if (whole) {
#pragma unroll
            for (int j = 0; j < PER_THREAD; j++) v[j] = __ldcs(from + j * THREADS);
        } else {
#pragma unroll
            for (int j = 0; j < PER_THREAD; j++)
                if (first + j * THREADS < cols) v[j] = __ldcs(from + j * THREADS);
        }
#pragma unroll
        for (int j = 0; j < PER_THREAD; j++) part += v[j];
    }

    __shared__ int of_warp[THREADS / 32];
    int sum = sum_of_warp(part);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = sum_of_warp(threadIdx.x < THREADS / 32 ? of_warp[threadIdx.x] : 0);
    if (threadIdx.x == 0) atomicAdd(output, sum);
}

extern "C" void solve(const int* input, int* output, int N, int M, int S_ROW, int E_ROW, int S_COL, int E_COL) {
    int rows = E_ROW - S_ROW + 1, cols = E_COL - S_COL + 1;
    int device = 0, multiprocessors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    int across = (cols + STRETCH - 1) / STRETCH;
    int down = min(rows, max(1, multiprocessors * BLOCKS_PER_MULTIPROCESSOR / across));
    sum_rectangle<<<dim3(across, down), THREADS>>>(input + (size_t)S_ROW * M + S_COL, output, M, rows, cols);
}
