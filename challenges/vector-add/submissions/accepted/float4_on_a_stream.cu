// 16-byte accesses, on a stream of its own, which is joined before solve returns.
#include <cuda_runtime.h>

__global__ void add_quads(const float4* A, const float4* B, float4* C, int quads) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    float4 a = A[i], b = B[i];
    C[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__global__ void add_rest(const float* A, const float* B, float* C, int first, int N) {
    int i = first + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    int quads = N / 4;
    if (quads > 0) {
        add_quads<<<(quads + 255) / 256, 256, 0, stream>>>((const float4*)A, (const float4*)B, (float4*)C, quads);
    }
    if (N % 4 != 0) add_rest<<<1, 4, 0, stream>>>(A, B, C, quads * 4, N);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
}
