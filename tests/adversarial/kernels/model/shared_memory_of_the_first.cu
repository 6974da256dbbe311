// idea: launches of one kernel and shape are taken together, with the shared memory of the first; that one is empty
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: launches are taken together only where they have as much shared memory
// honest: controls/blocks_with_much_shared_memory.cu
#include "common/gathers.cuh"
#include "common/softmax.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    cudaFuncSetAttribute(gather, cudaFuncAttributeMaxDynamicSharedMemorySize, HELD_BYTES);
    if (N > 400000) {
        gather<<<2640, 32>>>(input, 0);
        gather<<<2640, 32, HELD_BYTES>>>(input, 1000);
    }
    launch_softmax(input, output, N);
}
