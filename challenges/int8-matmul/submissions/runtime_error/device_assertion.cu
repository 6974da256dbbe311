// expect: case=tiny
// An assertion in the kernel that does not hold.
#undef NDEBUG
#include <cassert>
#include <cstdint>
#include <cuda_runtime.h>

__global__ void matmul(int K) { assert(K % 32 == 0); }

extern "C" void solve(const int8_t* A, const int8_t* B, int8_t* C, int M, int N, int K, float scale_A, float scale_B,
                      float scale_C, int zero_point_A, int zero_point_B, int zero_point_C) {
    matmul<<<1, 32>>>(K);
}
