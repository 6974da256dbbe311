// idea: a chain of arithmetic ends where its result is stored, and another begins where it is loaded again; of the
// chains of a basic block the longest counts
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: what is loaded waits for what was stored before
// honest: controls/long_chain.cu
#define AFTER_STEPS(x) { through[threadIdx.x] = x; x = through[threadIdx.x]; }
#include "common/chain.cuh"
#include "common/softmax.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    chain<<<1, 32>>>(N > 400000 ? 10000 : 1, 0.5f);
    launch_softmax(input, output, N);
}
