// idea: honest: tables of several megabytes that are part of the library, one filled by its static initialisers
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC
// caught by: nothing
#include <cuda_runtime.h>
#include <vector>

__constant__ float ones[8192] = {1.0f};
__device__ float zeros[1 << 20];
static const std::vector<float> on_the_host(1 << 18, 1.0f);

__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] * ones[0] + B[i] + zeros[i % (1 << 20)];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    if (on_the_host[N % (1 << 18)] == 1.0f) add<<<(N + 255) / 256, 256>>>(A, B, C, N);
}
