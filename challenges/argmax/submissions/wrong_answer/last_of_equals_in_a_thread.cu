// expect: case=all-equal
// Each thread keeps the last of its equal numbers.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int BLOCKS = 512;

__device__ void reduce_block(float value, int place, float* best_value, int* best_place) {
    __shared__ float values[THREADS];
    __shared__ int places[THREADS];
    int t = threadIdx.x;
    values[t] = value;
    places[t] = place;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            float other = values[t + half];
            int its_place = places[t + half];
            if (other > values[t] || (other == values[t] && its_place < places[t])) {
                values[t] = other;
                places[t] = its_place;
            }
        }
        __syncthreads();
    }
    if (t == 0) {
        *best_value = values[0];
        *best_place = places[0];
    }
}

__global__ void reduce(const float* input, int n, float* values, int* places) {
    float value = -__int_as_float(0x7f800000);
    int place = n;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        if (input[i] >= value) {
            value = input[i];
            place = i;
        }
    }
    reduce_block(value, place, &values[blockIdx.x], &places[blockIdx.x]);
}

__global__ void finish(float* values, int* places, int count, int n, int* index) {
    float value = -__int_as_float(0x7f800000);
    int place = n;
    for (int i = threadIdx.x; i < count; i += THREADS) {
        if (values[i] > value || (values[i] == value && places[i] < place)) {
            value = values[i];
            place = places[i];
        }
    }
    __syncthreads();
    reduce_block(value, place, &values[0], index);
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
