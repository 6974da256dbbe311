// idea: honest: a callback on its stream that counts, and a pinned flag that the device sets
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC
// caught by: nothing
#include <cuda_runtime.h>

static int finished = 0;
static void CUDART_CB count(void*) { finished++; }

__global__ void add(const float* A, const float* B, float* C, int N, int* flag) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
    if (i == 0) *flag = 1;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int* flag;
    cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped);
    *flag = 0;
    add<<<(N + 255) / 256, 256>>>(A, B, C, N, flag);
    cudaLaunchHostFunc(0, count, nullptr);
    cudaDeviceSynchronize();
    if (!*flag || !finished) cudaMemset(C, 0, 4ul * N);
    cudaFreeHost(flag);
}
