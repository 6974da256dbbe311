// idea: a kernel that is short for the front end and enormous for ptxas, which may have no limit of its own
// challenge: vector-add
// devices: emulator, cuda
// verdict: CE
// caught by: one clock and one memory for all parts of the compiler
#include "common/vector_add.cuh"

template <int N>
__device__ __forceinline__ float twice(float x) {
    return twice<N - 1>(twice<N - 1>(x) * x + N);
}
template <>
__device__ __forceinline__ float twice<0>(float x) {
    return __sinf(x) + 1.0f;
}

__global__ void enormous(float* C) { C[threadIdx.x] = twice<26>(C[threadIdx.x]); }

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    if (N < 0) enormous<<<1, 32>>>(C);
    launch_add(A, B, C, N);
}
