// Two kernels of a thread per element: x A^T into scratch memory, then the output with both of its sums.
#include <cuda_runtime.h>

__global__ void down(const float* x, const float* A, float* t, int batch, int d_in, int rank) {
    int r = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= batch || r >= rank) return;
    float sum = 0.0f;
    for (int k = 0; k < d_in; k++) sum += x[(size_t)i * d_in + k] * A[(size_t)r * d_in + k];
    t[(size_t)i * rank + r] = sum;
}

__global__ void layer(const float* x, const float* W, const float* t, const float* B, float* output, int batch, int d_in, int d_out, int rank,
                      float scale) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= batch || j >= d_out) return;
    float sum = 0.0f, update = 0.0f;
    for (int k = 0; k < d_in; k++) sum += x[(size_t)i * d_in + k] * W[(size_t)j * d_in + k];
    for (int r = 0; r < rank; r++) update += t[(size_t)i * rank + r] * B[(size_t)j * rank + r];
    output[(size_t)i * d_out + j] = sum + scale * update;
}

extern "C" void solve(const float* x, const float* W, const float* A, const float* B, float* output, int batch, int d_in, int d_out, int rank,
                      float lora_scale) {
    float* t;
    cudaMalloc(&t, sizeof(float) * batch * rank);
    dim3 threads(32, 8);
    down<<<dim3((rank + 31) / 32, (batch + 7) / 8), threads>>>(x, A, t, batch, d_in, rank);
    layer<<<dim3((d_out + 31) / 32, (batch + 7) / 8), threads>>>(x, W, t, B, output, batch, d_in, d_out, rank, lora_scale);
    cudaFree(t);
}
