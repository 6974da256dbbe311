// Two kernels of a thread per element: gated projections into scratch memory, then the projection back.
#include <cuda_runtime.h>

__global__ void project(const float* x, const float* gate, const float* up, float* hidden, int M, int d, int f) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= M || j >= f) return;
    float g = 0.0f, u = 0.0f;
    for (int k = 0; k < d; k++) {
        float value = x[(size_t)i * d + k];
        g += value * gate[(size_t)k * f + j];
        u += value * up[(size_t)k * f + j];
    }
    hidden[(size_t)i * f + j] = g / (1.0f + expf(-g)) * u;
}

__global__ void project_back(const float* hidden, const float* down, float* output, int M, int d, int f) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= M || j >= d) return;
    float sum = 0.0f;
    for (int k = 0; k < f; k++) sum += hidden[(size_t)i * f + k] * down[(size_t)k * d + j];
    output[(size_t)i * d + j] = sum;
}

extern "C" void solve(const float* x, const float* W_gate, const float* W_up, const float* W_down, float* output, int M, int d_model,
                      int d_ffn) {
    float* hidden;
    cudaMalloc(&hidden, sizeof(float) * M * d_ffn);
    dim3 threads(32, 8);
    project<<<dim3((d_ffn + 31) / 32, (M + 7) / 8), threads>>>(x, W_gate, W_up, hidden, M, d_model, d_ffn);
    project_back<<<dim3((d_model + 31) / 32, (M + 7) / 8), threads>>>(hidden, W_down, output, M, d_model, d_ffn);
    cudaFree(hidden);
}
