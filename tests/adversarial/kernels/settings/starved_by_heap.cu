// idea: a device heap of nearly all memory, set by a constructor: the judge has none left for its buffers, which may
//       count as the machine's fault
// challenge: vector-add
// devices: cuda
// verdict: MLE or RE or AC
// caught by: once a submission is loaded, memory that is missing is its doing; never an internal error
#include "common/vector_add.cuh"

__global__ void use() { free(malloc(16)); }

__attribute__((constructor)) static void begin() {
    size_t room = 0, all = 0;
    cudaMemGetInfo(&room, &all);
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, room - (100 << 20));
    use<<<1, 1>>>();
    cudaDeviceSynchronize();
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N); }
