// Three passes by one block: the largest number, the sum of the exponentials, and the division.
#include <cuda_runtime.h>

constexpr int THREADS = 1024;

template <typename Join>
__device__ float reduce(float value, Join join) {
    __shared__ float shared[THREADS];
    shared[threadIdx.x] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) shared[threadIdx.x] = join(shared[threadIdx.x], shared[threadIdx.x + half]);
    }
    __syncthreads();
    float result = shared[0];
    __syncthreads();
    return result;
}

__global__ void softmax(const float* input, float* output, int N) {
    float largest = -__int_as_float(0x7f800000), sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += THREADS) largest = fmaxf(largest, input[i]);
    largest = reduce(largest, [](float a, float b) { return fmaxf(a, b); });
    for (int i = threadIdx.x; i < N; i += THREADS) sum += expf(input[i] - largest);
    sum = reduce(sum, [](float a, float b) { return a + b; });
    for (int i = threadIdx.x; i < N; i += THREADS) output[i] = expf(input[i] - largest) / sum;
}

extern "C" void solve(const float* input, float* output, int N) { softmax<<<1, THREADS>>>(input, output, N); }
