// The same with 16-byte loads and four sums in flight; the last elements go one by one.
#include <cuda_runtime.h>

__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

__global__ void add_up(const float* input, float* output, int N) {
    __shared__ float sums[8];
    float own = 0.0f;
    int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    const float4* quads = reinterpret_cast<const float4*>(input);
    float4 sums4 = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int q = first; q < N / 4; q += stride) {
        float4 v = quads[q];
        sums4 = make_float4(sums4.x + v.x, sums4.y + v.y, sums4.z + v.z, sums4.w + v.w);
    }
    own = (sums4.x + sums4.y) + (sums4.z + sums4.w);
    if (first < N % 4) own += input[N / 4 * 4 + first];
    float sum = sum_of_warp(own);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = sum_of_warp(threadIdx.x < 8 ? sums[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0) atomicAdd(output, sum);
    }
}

extern "C" void solve(const float* input, float* output, int N) {
    int blocks = min((N / 4 + 255) / 256 + 1, 132 * 8);
    add_up<<<blocks, 256>>>(input, output, N);
}
