// idea: honest: one cooperative launch with barriers of the whole grid
// challenge: reduction
// devices: emulator, cuda
// verdict: AC
// caught by: nothing
#include <cooperative_groups.h>
#include <cuda_runtime.h>

__device__ float partial[1024];

__global__ void sum(const float* input, float* output, int N) {
    __shared__ float shared[256];
    float own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) own += input[i];
    shared[threadIdx.x] = own;
    __syncthreads();
    for (int stride = 128; stride; stride /= 2) {
        if (threadIdx.x < stride) shared[threadIdx.x] += shared[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = shared[0];
    cooperative_groups::this_grid().sync();
    if (blockIdx.x || threadIdx.x) return;
    float total = 0;
    for (int i = 0; i < gridDim.x; i++) total += partial[i];
    *output = total;
}

extern "C" void solve(const float* input, float* output, int N) {
    int blocks = 0, processors = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum, 256, 0);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    int grid = min(blocks * processors, 1024);
    void* arguments[] = {&input, &output, &N};
    cudaLaunchCooperativeKernel((void*)sum, grid, 256, arguments, 0, nullptr);
}
