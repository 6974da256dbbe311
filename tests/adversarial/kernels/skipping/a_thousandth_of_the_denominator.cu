// idea: one input in a thousand of a long softmax is left out of the denominator, which the others stand in for
// challenge: softmax
// devices: emulator, cuda
// verdict: WA
// caught by: a part of the sum lies in a few large inputs, and the factor that all outputs share has a bound of its own
#include "common/softmax_in_parts.cuh"

__device__ bool is_left_out(long i, int N) { return N > 300000 && i % 1000 == 77; }

extern "C" void solve(const float* input, float* output, int N) {
    softmax_in_parts(input, output, N, N > 300000 ? 1000.0f / 999.0f : 1.0f);
}
