// expect: case=tiny
// Recursion on the host without an end.
#include <cstdint>
#include <cuda_runtime.h>

static int depth(volatile int* at) {
    volatile int here[1024] = {};
    here[*at & 1023] = *at + 1;
    return depth(&here[*at & 1023]) + here[0];
}

extern "C" void solve(const int8_t* A, const int8_t* B, int8_t* C, int M, int N, int K, float scale_A, float scale_B,
                      float scale_C, int zero_point_A, int zero_point_B, int zero_point_C) {
    volatile int start = M;
    cudaMemset(C, depth(&start), 1);
}
