// idea: blocks of which two fit on a multiprocessor, since they hold much shared memory
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: nothing, it is honest: model/shared_memory_of_the_first.cu is compared with it
#include "common/gathers.cuh"
#include "common/softmax.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    cudaFuncSetAttribute(gather, cudaFuncAttributeMaxDynamicSharedMemorySize, HELD_BYTES);
    if (N > 400000) gather<<<2640, 32, HELD_BYTES>>>(input, 1000);
    launch_softmax(input, output, N);
}
