// expect: case=n-65-v-19-d-55
// Finds the row of an element by a product with 1/D, which single precision rounds down for D = 55: multiples of it end
// up in the row before.
#include <cuda_runtime.h>

__global__ void gather(const int* ids, const float* table, float* output, int N, int D, float reciprocal) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * D) return;
    int row = (int)(i * reciprocal);
    output[i] = table[(size_t)ids[row] * D + (i - row * D)];
}

extern "C" void solve(const int* ids, const float* table, float* output, int N, int V, int D) {
    gather<<<(N * D + 255) / 256, 256>>>(ids, table, output, N, D, 1.0f / D);
}
