// One block goes through the vector, 1024 elements at a time, and carries the sum from one stretch to the next.
#include <cuda_runtime.h>

constexpr int THREADS = 1024;

__global__ void scan(const float* input, float* output, int N) {
    __shared__ float shared[THREADS];
    float carried = 0.0f;
    for (int start = 0; start < N; start += THREADS) {
        int i = start + threadIdx.x;
        shared[threadIdx.x] = i < N ? input[i] : 0.0f;
        for (int distance = 1; distance < THREADS; distance *= 2) {
            __syncthreads();
            float below = threadIdx.x >= distance ? shared[threadIdx.x - distance] : 0.0f;
            __syncthreads();
            shared[threadIdx.x] += below;
        }
        __syncthreads();
        if (i < N) output[i] = carried + shared[threadIdx.x];
        carried += shared[THREADS - 1];
        __syncthreads();
    }
}

extern "C" void solve(const float* input, float* output, int N) { scan<<<1, THREADS>>>(input, output, N); }
