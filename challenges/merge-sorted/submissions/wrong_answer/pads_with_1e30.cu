// expect: case=near-the-largest
// Both arrays are padded to a power of two with 1e30, which is not above all numbers.
#include <cuda_runtime.h>

__global__ void fill(const float *A, const float *B, float *all, int M, int N, int padded) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < padded) all[i] = i < M ? A[i] : i < M + N ? B[i - M] : 1e30f;
}

__global__ void step(float *all, int distance, int run) {
    int i = blockIdx.x * 256 + threadIdx.x, other = i ^ distance;
    if (other < i) return;
    float low = all[i], high = all[other];
    bool ascends = (i & run) == 0;
    if ((low > high) == ascends) {
        all[i] = high;
        all[other] = low;
    }
}

extern "C" void solve(const float *A, const float *B, float *C, int M, int N) {
    int padded = 256;
    while (padded < M + N) padded *= 2;
    float *all;
    cudaMalloc(&all, padded * sizeof(float));
    fill<<<padded / 256, 256>>>(A, B, all, M, N, padded);
    for (int run = 2; run <= padded; run *= 2)
        for (int distance = run / 2; distance; distance /= 2) step<<<padded / 256, 256>>>(all, distance, run);
    cudaMemcpy(C, all, (M + N) * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaFree(all);
}
