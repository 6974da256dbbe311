// idea: honest: the library's reduction, with its scratch memory allocated in every call
// challenge: reduction
// devices: emulator, cuda
// verdict: AC
// caught by: nothing
#include <cub/device/device_reduce.cuh>

extern "C" void solve(const float* input, float* output, int N) {
    void* scratch = nullptr;
    size_t size = 0;
    cub::DeviceReduce::Sum(scratch, size, input, output, N);
    cudaMalloc(&scratch, size);
    cub::DeviceReduce::Sum(scratch, size, input, output, N);
    cudaFree(scratch);
}
