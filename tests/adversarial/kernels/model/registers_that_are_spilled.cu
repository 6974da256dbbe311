// idea: bounds for eight blocks on a multiprocessor leave 32 registers, and 64 sums are spilled; PTX knows nothing of that
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: what ptxas spills counts as held in registers, but for a little
// honest: controls/sums_in_registers.cu
#define BOUNDS __launch_bounds__(256, 8)
#include "common/gathers.cuh"
#include "common/softmax.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    if (N > 400000) gather_sums<<<1056, 256>>>(input, 20);
    launch_softmax(input, output, N);
}
