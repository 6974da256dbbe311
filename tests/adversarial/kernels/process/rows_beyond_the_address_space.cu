// idea: a copy whose size, multiplied out, fits into the buffer again
// challenge: vector-add
// devices: emulator
// verdict: AC
// caught by: sizes that overflow are refused with an error code
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    cudaMemcpy2D(C, ~0ul, A, ~0ul, 16, ~0ul, cudaMemcpyDeviceToDevice);
    cudaMemset2D(C, 1ul << 32, 0, 16, (1ul << 32) + 1);
    cudaGetLastError();
    launch_add(A, B, C, N);
}
