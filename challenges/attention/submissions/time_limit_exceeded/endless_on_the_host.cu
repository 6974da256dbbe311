// expect: case=tiny
// Halves the stride for ever: it never gets below zero.
#include <cuda_runtime.h>

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) {
    volatile int stride = 64;
    while (stride >= 0) stride = stride / 2;
}
