// expect: case=scarce-long-edges
// A billion stands for infinity.
#include <cuda_runtime.h>

__global__ void in(const float *d, float *o, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) o[i] = isinf(d[i]) ? 1e9f : d[i];
}
__global__ void fin(float *o, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n && o[i] >= 1e9f) o[i] = INFINITY;
}
__global__ void step(float *d, int n, int k) {
    int j = blockIdx.x * 256 + threadIdx.x, i = blockIdx.y;
    if (j < n) d[i * n + j] = fminf(d[i * n + j], d[i * n + k] + d[k * n + j]);
}
extern "C" void solve(const float *dist, float *output, int N) {
    in<<<(N * N + 255) / 256, 256>>>(dist, output, N * N);
    for (int k = 0; k < N; k++) step<<<dim3((N + 255) / 256, N), 256>>>(output, N, k);
    fin<<<(N * N + 255) / 256, 256>>>(output, N * N);
}
