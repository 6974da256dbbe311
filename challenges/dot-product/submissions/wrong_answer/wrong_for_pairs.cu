// expect: case=n-1030
// Reads fours, pairs or single numbers, as N allows; pairs multiply the first number twice.
#include <cuda_runtime.h>

__device__ float product(float a, float b) { return a * b; }
__device__ float product(float2 a, float2 b) { return a.x * b.x + a.x * b.y; }
__device__ float product(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

template <typename T>
__global__ void dot(const T *a, const T *b, float *result, int n) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += product(a[i], b[i]);
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(result, sum);
}

template <typename T>
void launch(const float *a, const float *b, float *result, int n) {
    dot<<<32, 256>>>(reinterpret_cast<const T *>(a), reinterpret_cast<const T *>(b), result, n);
}

extern "C" void solve(const float *A, const float *B, float *result, int N) {
    if (N % 4 == 0) {
        launch<float4>(A, B, result, N / 4);
    } else if (N % 2 == 0) {
        launch<float2>(A, B, result, N / 2);
    } else {
        launch<float>(A, B, result, N);
    }
}
