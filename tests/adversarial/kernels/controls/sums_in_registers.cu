// idea: 64 sums in registers, of which a multiprocessor has enough for three blocks
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: nothing, it is honest: model/registers_that_are_spilled.cu is compared with it
#include "common/gathers.cuh"
#include "common/softmax.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    if (N > 400000) gather_sums<<<1056, 256>>>(input, 20);
    launch_softmax(input, output, N);
}
