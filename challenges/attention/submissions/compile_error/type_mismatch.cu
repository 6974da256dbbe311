#include <cuda_runtime.h>

__global__ void attend(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) {
    float4 query = reinterpret_cast<const float4*>(Q)[threadIdx.x];
    float score = query * reinterpret_cast<const float4*>(K)[threadIdx.x];
    output[threadIdx.x] = score;
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) {
    attend<<<1, 32>>>(Q, K, V, output, M, N, d);
}
