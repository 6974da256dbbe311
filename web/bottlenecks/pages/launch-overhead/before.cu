#include <cuda_runtime.h>

__global__ void add_row(const float* A, const float* B, float* C, int N) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col < N) C[col] = A[col] + B[col];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    for (int row = 0; row < N; row++) {  // a launch for each row
        size_t at = (size_t)row * N;
        add_row<<<(N + 255) / 256, 256>>>(A + at, B + at, C + at, N);
    }
}
