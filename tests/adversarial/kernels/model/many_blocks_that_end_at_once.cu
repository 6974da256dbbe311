// idea: two busy blocks on one multiprocessor take twice as long; but not where a thousand blocks are launched with them
// that end at once, so that the average block has little to do
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: blocks that execute much are counted, and as many of them come together as if the others were not there
// honest: controls/one_block_too_many.cu
#include "common/exponentials.cuh"
#include "common/softmax.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    exponentials<<<BUSY_BLOCKS + 1000, 1024>>>(N > 400000 ? 400 : 1);
    launch_softmax(input, output, N);
}
