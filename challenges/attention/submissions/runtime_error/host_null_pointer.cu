// expect: case=tiny
// Fills a buffer on the host that was never allocated.
#include <cuda_runtime.h>

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) {
    volatile float* scores = nullptr;
    for (int i = 0; i < M * N; i++) scores[i] = 0.0f;
}
