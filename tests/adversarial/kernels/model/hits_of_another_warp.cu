// idea: a warp of another block loads from the L1 what it has there, again and again and much at once; latencies are
// averages of what was found in the L1, and so the loads of the block that works seem to be found there, too
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: loads are counted by where they were found, each by itself, and more of them never take less time
__device__ float scratch[128];
#define AT_FIRST \
    if (blockIdx.x) { \
        if (t >= 32) return; \
        for (int i = 0; i < 60; i++) { \
            float a, b, c, d; \
            _Pragma("unroll") for (int j = 0; j < 64; j++) \
                asm volatile("ld.global.ca.v4.f32 {%0, %1, %2, %3}, [%4];" \
                             : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(scratch + 4 * t)); \
        } \
        return; \
    }
#include "common/softmax.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    softmax<<<2, 1024>>>(input, output, N);
}
