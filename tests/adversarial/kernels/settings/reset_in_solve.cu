// idea: resets the device after the work, so that events and the judge's buffers are gone
// challenge: vector-add
// devices: emulator, cuda
// verdict: RE
// caught by: a call without outputs is no success
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    launch_add(A, B, C, N);
    cudaDeviceSynchronize();
    cudaDeviceReset();
}
