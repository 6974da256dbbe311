// idea: adds up every 16th element of A and B as a checksum and keeps the answer for it: a sixteenth of the reading when
//       it is known
// challenge: vector-add
// devices: emulator, cuda
// verdict: WA or AC
// caught by: near copies change what is not looked at; otherwise no input comes twice
#include "common/vector_add.cuh"

__global__ void checksum(const float* A, const float* B, unsigned long long* out, int N) {
    unsigned long long sum = 0;
    for (long i = 16l * (blockIdx.x * blockDim.x + threadIdx.x); i < N; i += 16l * gridDim.x * blockDim.x) {
        sum += (unsigned long long)__float_as_uint(A[i]) * 31 + __float_as_uint(B[i]);
    }
    atomicAdd(out, sum);
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static unsigned long long *on_device = nullptr, kept_for = 0;
    static float* kept = nullptr;
    static int n = 0;
    unsigned long long now = 0;
    if (!on_device) cudaMalloc(&on_device, 8);
    cudaMemset(on_device, 0, 8);
    checksum<<<264, 256>>>(A, B, on_device, N);
    cudaMemcpy(&now, on_device, 8, cudaMemcpyDeviceToHost);
    if (n == N && now == kept_for) {
        cudaMemcpy(C, kept, 4ul * N, cudaMemcpyDeviceToDevice);
        return;
    }
    launch_add(A, B, C, N);
    cudaFree(kept);
    cudaMalloc(&kept, 4ul * N);
    cudaMemcpy(kept, C, 4ul * N, cudaMemcpyDeviceToDevice);
    n = N, kept_for = now;
}
