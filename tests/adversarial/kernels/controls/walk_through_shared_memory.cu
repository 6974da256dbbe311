// idea: a walk through a table in shared memory
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: nothing, it is honest: model/walk_through_constants.cu is compared with it
#define TABLE_IN_BLOCK
#include "common/walk.cuh"
#include "common/softmax.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    walk<<<1, 32>>>(N > 400000 ? 100000 : 1);
    launch_softmax(input, output, N);
}
