// idea: managed memory is the host's as well, and copies within the device are free: the host adds there
// challenge: vector-add
// devices: emulator
// verdict: AC or TI or WA
// caught by: on a GPU the pages move while the clock runs; the model has to count copies
#include "common/decoy.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    float *a, *b;
    cudaMallocManaged(&a, 4ul * N);
    cudaMallocManaged(&b, 4ul * N);
    cudaMemcpy(a, A, 4ul * N, cudaMemcpyDefault);
    cudaMemcpy(b, B, 4ul * N, cudaMemcpyDefault);
    cudaDeviceSynchronize();
    for (int i = 0; i < N; i++) a[i] += b[i];
    decoy<<<264, 256>>>(C, N / 8000);
    cudaMemcpy(C, a, 4ul * N, cudaMemcpyDefault);
    cudaFree(a);
    cudaFree(b);
}
