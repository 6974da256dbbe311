// expect: case=largest-at-the-end
// One block takes the maximum of the others' maxima, of which it sees 1024 only.
#include <cuda_runtime.h>
#include <math.h>

constexpr int THREADS = 256, MOST = 1024;

__device__ float largest, total;

__global__ void maxima_of_blocks(const float* input, float* maxima, int N) {
    __shared__ float seen[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    seen[threadIdx.x] = i < N ? input[i] : -INFINITY;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) seen[threadIdx.x] = fmaxf(seen[threadIdx.x], seen[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) maxima[blockIdx.x] = seen[0];
}

__global__ void maximum_of_maxima(const float* maxima, int blocks) {
    __shared__ float seen[MOST];
    seen[threadIdx.x] = threadIdx.x < blocks ? maxima[threadIdx.x] : -INFINITY;
    for (int half = MOST / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) seen[threadIdx.x] = fmaxf(seen[threadIdx.x], seen[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) {
        largest = seen[0];
        total = 0.0f;
    }
}

__global__ void add_up(const float* input, float* output, int N) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = i < N ? expf(input[i] - largest) : 0.0f;
    if (i < N) output[i] = sum;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(&total, sum);
}

__global__ void divide(float* output, int N) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < N) output[i] /= total;
}

extern "C" void solve(const float* input, float* output, int N) {
    int blocks = (N + THREADS - 1) / THREADS;
    float* maxima;
    cudaMalloc(&maxima, blocks * sizeof(float));
    maxima_of_blocks<<<blocks, THREADS>>>(input, maxima, N);
    maximum_of_maxima<<<1, MOST>>>(maxima, blocks);
    add_up<<<blocks, THREADS>>>(input, output, N);
    divide<<<blocks, THREADS>>>(output, N);
    cudaFree(maxima);
}
