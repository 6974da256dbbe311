#include <cuda_runtime.h>

// Of each element: whether it is left out of the denominator.
__device__ bool is_left_out(long i, int N);

struct Scratch {
    int largest;
    float sum;
};

// As integers that are ordered as the numbers are.
__device__ int ordered(float value) { return __float_as_int(value) ^ (__float_as_int(value) >> 31 & 0x7fffffff); }
__device__ float of_ordered(int bits) { return __int_as_float(bits ^ (bits >> 31 & 0x7fffffff)); }

__global__ void largest(const float* input, Scratch* scratch, int N) {
    int own = 0x80000000;
    for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += (long)gridDim.x * blockDim.x) {
        if (!is_left_out(i, N)) own = max(own, ordered(input[i]));
    }
    atomicMax(&scratch->largest, own);
}

__global__ void total(const float* input, Scratch* scratch, int N, float factor) {
    float own = 0, top = of_ordered(scratch->largest);
    for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += (long)gridDim.x * blockDim.x) {
        if (!is_left_out(i, N)) own += expf(input[i] - top);
    }
    atomicAdd(&scratch->sum, own * factor);
}

__global__ void divide(const float* input, float* output, const Scratch* scratch, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) output[i] = expf(input[i] - of_ordered(scratch->largest)) / scratch->sum;
}

static void softmax_in_parts(const float* input, float* output, int N, float factor) {
    Scratch *scratch, empty{(int)0x80000000, 0};
    cudaMalloc(&scratch, sizeof(Scratch));
    cudaMemcpy(scratch, &empty, sizeof empty, cudaMemcpyHostToDevice);
    largest<<<64, 256>>>(input, scratch, N);
    total<<<64, 256>>>(input, scratch, N, factor);
    divide<<<(N + 255) / 256, 256>>>(input, output, scratch, N);
    cudaFree(scratch);
}
