#include <cuda_runtime.h>

__device__ float end_of_chain;

// A long chain of arithmetic in one warp; after every eighth step comes what AFTER_STEPS says.
#ifndef AFTER_STEPS
#define AFTER_STEPS(x)
#endif
__global__ void chain(int rounds, float factor) {
    __shared__ volatile float through[32];
    float x = threadIdx.x;
    through[threadIdx.x] = x;
    for (int i = 0; i < rounds; i++) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
#pragma unroll
            for (int step = 0; step < 8; step++) x = x * factor + 1.0f;
            AFTER_STEPS(x)
        }
    }
    if (x == -1.0f) end_of_chain = through[0];
}
