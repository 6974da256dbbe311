// Floyd and Warshall's algorithm in place on the output: one launch for each node that paths may lead through, one thread
// a pair. Row and column k do not change in step k.
#include <cuda_runtime.h>

__global__ void lead_through(float* paths, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    float longer = paths[i * n + k] + paths[k * n + j];
    if (longer < paths[i * n + j]) paths[i * n + j] = longer;
}

extern "C" void solve(const float* dist, float* output, int N) {
    cudaMemcpy(output, dist, sizeof(float) * N * N, cudaMemcpyDeviceToDevice);
    dim3 blocks((N + 31) / 32, (N + 7) / 8);
    for (int k = 0; k < N; k++) lead_through<<<blocks, dim3(32, 8)>>>(output, N, k);
}
