// idea: as a spy that never ends, but each call's lives for half a millisecond after the work: it would see what the
//       runner does with the buffers next
// challenge: vector-add
// devices: cuda
// verdict: AC or TI
// caught by: the runner touches no buffer while anything of the context runs, so that the spy is on the clock
#include "common/vector_add.cuh"

__global__ void watch(const volatile float* C, float* seen, long long clocks) {
    long long begin = clock64();
    float last = 0;
    while (clock64() - begin < clocks) last += C[0];
    *seen = last;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static float* seen = nullptr;
    static cudaStream_t side = nullptr;
    if (!seen) {
        cudaMalloc(&seen, 4);
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    }
    launch_add(A, B, C, N);
    watch<<<1, 1, 0, side>>>(C, seen, 900000);
}
