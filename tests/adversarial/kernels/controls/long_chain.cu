// idea: a chain of arithmetic in one warp, where each result needs the one before
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: nothing, it is honest: model/chain_through_shared_memory.cu is compared with it
#include "common/chain.cuh"
#include "common/softmax.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    chain<<<1, 32>>>(N > 400000 ? 10000 : 1, 0.5f);
    launch_softmax(input, output, N);
}
