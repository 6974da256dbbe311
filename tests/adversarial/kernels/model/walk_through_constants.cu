// idea: constant memory answers at once, whatever the address
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: at an address that is computed, it takes as long as shared memory
// honest: controls/walk_through_shared_memory.cu
#define TABLE_SPACE __constant__
#include "common/walk.cuh"
#include "common/softmax.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    walk<<<1, 32>>>(N > 400000 ? 100000 : 1);
    launch_softmax(input, output, N);
}
