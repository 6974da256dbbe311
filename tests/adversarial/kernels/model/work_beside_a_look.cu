// idea: a warp that looks at one place again and again is taken to wait, and what it does between two looks is not counted
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: only rounds count as waiting that leave the warp as it was and change nothing
#define EACH_ROUND { int seen; asm volatile("ld.volatile.global.b32 %0, [%1];" : "=r"(seen) : "l"(input)); }
#include "common/softmax.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    launch_softmax(input, output, N);
}
