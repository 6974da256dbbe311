// idea: resets the device after the work, so that events and the judge's buffers are gone
// challenge: vector-add
// devices: emulator, cuda
// verdict: RE
// verdict on emulator: RE or AC
// caught by: a call without outputs is no success. The emulator's reset leaves the judge's buffers alone
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    launch_add(A, B, C, N);
    cudaDeviceSynchronize();
    cudaDeviceReset();
}
