// challenge: vector-add
// verdict: RE
// told: malloc() at kernel.cu:8 returned null: the device heap of 8388608 bytes had too little room
#include <cuda_runtime.h>

__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float* sum = static_cast<float*>(malloc(size_t{1} << 20));
    if (i >= N) return;
    *sum = A[i] + B[i];
    C[i] = *sum;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<(N + 255) / 256, 256>>>(A, B, C, N);
    cudaDeviceSynchronize();
}
