// idea: a buffer is cleared a hundred times, by a copy of zeros on the device
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: nothing, it is honest: model/clears_by_memset.cu is compared with it
#define CLEAR cudaMemcpyAsync(at, from, sizeof cleared, cudaMemcpyDeviceToDevice)
#include "common/clears.cuh"
#include "common/softmax.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    clear_often();
    launch_softmax(input, output, N);
}
