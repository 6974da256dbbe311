// idea: the kernel writes to memory of its own, and the answer follows by an asynchronous copy on a stream that nobody
//       waits for
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC or TI or WA
// caught by: the closing event covers copies of all streams
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static cudaStream_t side = nullptr;
    float* answer;
    if (!side) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaMallocAsync(&answer, 4ul * N, side);
    launch_add(A, B, answer, N, side);
    cudaMemcpyAsync(C, answer, 4ul * N, cudaMemcpyDeviceToDevice, side);
    cudaFreeAsync(answer, side);
}
