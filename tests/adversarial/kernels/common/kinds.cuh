#include <cuda_runtime.h>

// Three kinds of work, each held up by something else.
constexpr int WORDS = 1 << 23;
__device__ float written[WORDS], end_of_work;

__device__ void exponentials(int rounds) {
    float x = threadIdx.x;
    for (int i = 0; i < rounds; i++) x = __expf(x);
    if (x == -1.0f) end_of_work = x;
}

__device__ void stores(int words) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) written[i] = i;
}

__device__ void bank_conflicts(int rounds) {
    __shared__ float shared[4096];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) shared[i] = 0.0f;
    __syncthreads();
    float x = 0.0f;
    for (int i = 0; i < rounds; i++) x += shared[(threadIdx.x * 32 + i) & 4095];
    if (x == -1.0f) end_of_work = x;
}
