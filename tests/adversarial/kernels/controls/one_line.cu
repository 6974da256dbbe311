// idea: honest: a line from the host and one from the device, once
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC
// caught by: nothing
#include <cstdio>
#include <cuda_runtime.h>

__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
    if (i == 0 && N == 4) printf("N is %d\n", N);
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static bool told = false;
    if (!told) printf("adding\n");
    told = true;
    add<<<(N + 255) / 256, 256>>>(A, B, C, N);
}
