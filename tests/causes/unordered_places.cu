// challenge: relu
// verdict: RE
// told: race between streams at kernel.cu:14 in scatter
// headline: illegal write of 4 bytes at kernel.cu:14 in scatter
#include <cuda_runtime.h>

__global__ void place(int* places, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) places[i] = i;
}

__global__ void scatter(const float* input, const int* places, float* output, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) output[places[i]] = fmaxf(input[i], 0.0f);
}

extern "C" void solve(const float* input, float* output, int N) {
    cudaStream_t one, other;
    cudaStreamCreate(&one);
    cudaStreamCreate(&other);
    int* places;
    cudaMalloc(&places, N * sizeof(int));
    place<<<(N + 255) / 256, 256, 0, one>>>(places, N);
    // cudaStreamWaitEvent is missing: the places may not be there yet.
    scatter<<<(N + 255) / 256, 256, 0, other>>>(input, places, output, N);
    cudaDeviceSynchronize();
    cudaFree(places);
    cudaStreamDestroy(one);
    cudaStreamDestroy(other);
}
