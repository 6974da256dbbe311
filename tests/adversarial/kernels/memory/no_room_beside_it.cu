// idea: a constructor takes all the device's memory but what the submission's own buffers need, so that no process that the
//       judge starts beside it, the empty one for one, finds any: a judgement without a verdict
// challenge: vector-add
// devices: cuda
// verdict: AC or MLE
// caught by: all processes of a judgement reserve their memory before the first loads a submission
#include "common/vector_add.cuh"

__attribute__((constructor)) static void begin() {
    size_t free = 0, total = 0;
    void* taken;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) return;
    const size_t left = 700ul << 20;
    for (size_t size = free > left ? free - left : 0; size > (64ul << 20); size -= 64ul << 20) {
        if (cudaMalloc(&taken, size) == cudaSuccess) break;
    }
    cudaGetLastError();
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N); }
