// idea: one busy block more than an H200 has multiprocessors
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: nothing, it is honest: model/many_blocks_that_end_at_once.cu is compared with it
#include "common/exponentials.cuh"
#include "common/softmax.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    exponentials<<<BUSY_BLOCKS, 1024>>>(N > 400000 ? 400 : 1);
    launch_softmax(input, output, N);
}
