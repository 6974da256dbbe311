// idea: nothing but manners: asks the device to let the host sleep while it waits
// challenge: vector-add
// devices: cuda
// verdict: AC
// caught by: how the judge waits does not depend on what a submission asked for
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync);
    launch_add(A, B, C, N);
}
