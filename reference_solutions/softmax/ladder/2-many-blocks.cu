// Three launches with many blocks: the maximum, the sum of the exponentials, the division. Blocks meet in two words of
// the device's memory, by an atomic each. Floats are compared as integers of the same order.
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__device__ unsigned largest_bits;
__device__ float total;

// Maps floats to unsigned integers so that a larger float is a larger integer.
__device__ unsigned ordered(float value) {
    unsigned bits = __float_as_uint(value);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ float from_ordered(unsigned bits) {
    return __uint_as_float(bits & 0x80000000u ? bits & 0x7fffffffu : ~bits);
}

__global__ void start() {
    largest_bits = 0;
    total = 0.0f;
}

__global__ void find_largest(const float* input, int N) {
    __shared__ unsigned shared[THREADS];
    int t = threadIdx.x;
    unsigned largest = 0;
    for (int i = blockIdx.x * THREADS + t; i < N; i += gridDim.x * THREADS) largest = max(largest, ordered(input[i]));
    shared[t] = largest;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) shared[t] = max(shared[t], shared[t + half]);
        __syncthreads();
    }
    if (t == 0) atomicMax(&largest_bits, shared[0]);
}

__global__ void add_up(const float* input, int N) {
    __shared__ float shared[THREADS];
    int t = threadIdx.x;
    float largest = from_ordered(largest_bits), sum = 0.0f;
    for (int i = blockIdx.x * THREADS + t; i < N; i += gridDim.x * THREADS) sum += expf(input[i] - largest);
    shared[t] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) shared[t] += shared[t + half];
        __syncthreads();
    }
    if (t == 0) atomicAdd(&total, shared[0]);
}

__global__ void divide(const float* input, float* output, int N) {
    float largest = from_ordered(largest_bits), sum = total;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += gridDim.x * THREADS) output[i] = expf(input[i] - largest) / sum;
}

extern "C" void solve(const float* input, float* output, int N) {
    int blocks = min((N + THREADS - 1) / THREADS, 132 * 8);
    start<<<1, 1>>>();
    find_largest<<<blocks, THREADS>>>(input, N);
    add_up<<<blocks, THREADS>>>(input, N);
    divide<<<blocks, THREADS>>>(input, output, N);
}
