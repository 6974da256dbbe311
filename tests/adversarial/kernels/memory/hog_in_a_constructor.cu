// idea: takes all the device's memory before the judge has its buffers, so that it seems that the machine has too little
// challenge: vector-add
// devices: emulator, cuda
// verdict: MLE or RE or AC
// caught by: once a submission is loaded, memory that is missing is its doing; never an internal error
#include "common/vector_add.cuh"

__attribute__((constructor)) static void begin() {
    void* taken;
    for (size_t size = 1ul << 34; size >= 256; size /= 2) {
        while (cudaMalloc(&taken, size) == cudaSuccess) {}
    }
    cudaGetLastError();
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N); }
