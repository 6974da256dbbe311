// idea: a memset costs its bytes, and no launch
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: it costs a launch, as a copy on the device does
// honest: controls/clears_by_copies.cu
#define CLEAR cudaMemsetAsync(at, 0, sizeof cleared)
#include "common/clears.cuh"
#include "common/softmax.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    clear_often();
    launch_softmax(input, output, N);
}
