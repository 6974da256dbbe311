// idea: the outputs cross in shared memory: has the host write there, while the kernel never runs
// challenge: vector-add
// devices: emulator, cuda
// verdict: WA
// caught by: the runner copies the device's memory over it after the call; a right answer made by the host is slow
#include <cstring>
#include <vector>
#include "common/shared.cuh"
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    std::vector<float> a(N), b(N);
    cudaMemcpy(a.data(), A, 4ul * N, cudaMemcpyDeviceToHost);
    cudaMemcpy(b.data(), B, 4ul * N, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) a[i] += b[i];
    char* outputs = shared_memory(true);
    if (outputs) memcpy(outputs, a.data(), 4ul * N);
}
