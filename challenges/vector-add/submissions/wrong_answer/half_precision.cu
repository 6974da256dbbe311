// expect: case=four
// Adds in half precision where single is asked for.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = __half2float(__hadd(__float2half(A[i]), __float2half(B[i])));
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { add<<<(N + 255) / 256, 256>>>(A, B, C, N); }
