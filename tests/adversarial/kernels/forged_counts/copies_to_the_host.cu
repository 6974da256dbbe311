// idea: nothing but documented calls: the inputs are copied to the host, added there, and copied back. Copies cost
//       nothing where only kernels are counted
// challenge: vector-add
// devices: emulator
// verdict: AC or TI or WA
// caught by: on a GPU the copies are on the clock; the model has to count what crosses the bus
#include <vector>
#include "common/decoy.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    std::vector<float> a(N), b(N);
    cudaMemcpy(a.data(), A, 4ul * N, cudaMemcpyDeviceToHost);
    cudaMemcpy(b.data(), B, 4ul * N, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) a[i] += b[i];
    decoy<<<264, 256>>>(C, N / 8000);
    cudaMemcpy(C, a.data(), 4ul * N, cudaMemcpyHostToDevice);
}
