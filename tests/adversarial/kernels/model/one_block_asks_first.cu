// idea: as one_block_of_many, with the result of each addition in use, as where work is handed out
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: blocks that take work from each other run side by side, and what one has done counts for one
__device__ int counter;
__device__ int sink;
#define AT_FIRST if (t == 0) for (int i = 0; i < 300; i++) if (atomicAdd(&counter, 1) < 0) sink = i; if (blockIdx.x) return;
#include "common/softmax.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    softmax<<<132, 1024>>>(input, output, N);
}
