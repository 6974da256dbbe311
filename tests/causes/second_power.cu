// challenge: matrix-power
// verdict: WA
// told: it is right with P = 1 and wrong with 2
#include <cuda_runtime.h>

__global__ void multiply(const float* a, const float* b, float* c, int n) {
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= n || column >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) sum += a[row * n + i] * b[column * n + i];  // of the transposed matrix
    c[row * n + column] = sum;
}

extern "C" void solve(const float* input, float* output, int N, int P) {
    float* before;
    size_t bytes = sizeof(float) * N * N;
    cudaMalloc(&before, bytes);
    cudaMemcpy(output, input, bytes, cudaMemcpyDeviceToDevice);
    dim3 grid((N + 15) / 16, (N + 15) / 16), block(16, 16);
    for (int power = 1; power < P; ++power) {
        cudaMemcpy(before, output, bytes, cudaMemcpyDeviceToDevice);
        multiply<<<grid, block>>>(before, input, output, N);
    }
    cudaFree(before);
}
