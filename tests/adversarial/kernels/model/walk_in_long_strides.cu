// idea: of the loads between two branches some seem to be under way together, though each of them needs the one before;
// so the third part more of steps, without branches between them, takes less time
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: loads that need each other's results are counted, and are taken to come one after the other
// honest: controls/walk_by_two_steps.cu
#define STEPS_AT_ONCE 40
#include "common/walk.cuh"
#include "common/softmax.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    walk<<<1, 32>>>(N > 400000 ? 133320 : 40);
    launch_softmax(input, output, N);
}
