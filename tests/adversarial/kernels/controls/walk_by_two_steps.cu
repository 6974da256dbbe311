// idea: a walk through a table in global memory, two steps to a round of the loop
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: nothing, it is honest: model/walk_in_long_strides.cu is compared with it
#define STEPS_AT_ONCE 2
#include "common/walk.cuh"
#include "common/softmax.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    walk<<<1, 32>>>(N > 400000 ? 100000 : 2);
    launch_softmax(input, output, N);
}
