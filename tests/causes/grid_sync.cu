// challenge: vector-add
// verdict: RE
// told: a barrier of the whole grid (grid.sync()) needs cudaLaunchCooperativeKernel()
#include <cooperative_groups.h>

__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
    cooperative_groups::this_grid().sync();
    if (i < N) C[i] += 0.0f;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<(N + 255) / 256, 256>>>(A, B, C, N);
    cudaDeviceSynchronize();
}
