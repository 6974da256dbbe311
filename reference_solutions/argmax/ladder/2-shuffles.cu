// Value and index go down a warp by shuffles; only the eight pairs of the warps go through shared memory.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int BLOCKS = 512;

__device__ void keep_better(float& value, int& place, float other, int its_place) {
    if (other > value || (other == value && its_place < place)) {
        value = other;
        place = its_place;
    }
}

__device__ void reduce_warp(float& value, int& place) {
    for (int distance = 16; distance > 0; distance /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, value, distance);
        int its_place = __shfl_xor_sync(0xffffffffu, place, distance);
        keep_better(value, place, other, its_place);
    }
}

// In the first warp of the block, every lane has the result.
__device__ void reduce_block(float& value, int& place, int n) {
    __shared__ float values[WARPS];
    __shared__ int places[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    reduce_warp(value, place);
    if (lane == 0) {
        values[warp] = value;
        places[warp] = place;
    }
    __syncthreads();
    value = lane < WARPS ? values[lane] : -__int_as_float(0x7f800000);
    place = lane < WARPS ? places[lane] : n;
    reduce_warp(value, place);
}

__global__ void reduce(const float* input, int n, float* values, int* places) {
    float value = -__int_as_float(0x7f800000);
    int place = n;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) keep_better(value, place, input[i], i);
    reduce_block(value, place, n);
    if (threadIdx.x == 0) {
        values[blockIdx.x] = value;
        places[blockIdx.x] = place;
    }
}

__global__ void finish(const float* values, const int* places, int count, int n, int* index) {
    float value = -__int_as_float(0x7f800000);
    int place = n;
    for (int i = threadIdx.x; i < count; i += THREADS) keep_better(value, place, values[i], places[i]);
    reduce_block(value, place, n);
    if (threadIdx.x == 0) *index = place;
}

extern "C" void solve(const float* input, int* index, int N) {
    float* values;
    int* places;
    int blocks = min(BLOCKS, (N + THREADS - 1) / THREADS);
    cudaMalloc(&values, sizeof(float) * blocks);
    cudaMalloc(&places, sizeof(int) * blocks);
    reduce<<<blocks, THREADS>>>(input, N, values, places);
    finish<<<1, THREADS>>>(values, places, blocks, N, index);
    cudaFree(places);
    cudaFree(values);
}
