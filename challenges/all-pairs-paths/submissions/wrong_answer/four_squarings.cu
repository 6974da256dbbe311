// expect: case=one-ring
// Four squarings in the min-plus sense find paths of up to 16 edges; longer ones are missed.
#include <cuda_runtime.h>

__global__ void square(const float* paths, float* longer, int n) {
    int i = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    float least = paths[i * n + j];
    for (int k = 0; k < n; k++) least = fminf(least, paths[i * n + k] + paths[k * n + j]);
    longer[i * n + j] = least;
}

extern "C" void solve(const float* dist, float* output, int N) {
    float* other;
    cudaMalloc(&other, sizeof(float) * N * N);
    dim3 grid((N + 127) / 128, N);
    square<<<grid, 128>>>(dist, other, N);
    square<<<grid, 128>>>(other, output, N);
    square<<<grid, 128>>>(output, other, N);
    square<<<grid, 128>>>(other, output, N);
    cudaFree(other);
}
