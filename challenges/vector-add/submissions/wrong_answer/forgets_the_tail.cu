// expect: case=one
// Groups of four, and nothing for the last N % 4.
#include <cuda_runtime.h>

__global__ void add(const float4* A, const float4* B, float4* C, int quads) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    float4 a = A[i], b = B[i];
    C[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<(N / 4 + 255) / 256 + 1, 256>>>((const float4*)A, (const float4*)B, (float4*)C, N / 4);
}
