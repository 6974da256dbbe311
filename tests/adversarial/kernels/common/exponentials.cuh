#include <cuda_runtime.h>

// Blocks that are busy with special functions, and any number that end at once.
constexpr int BUSY_BLOCKS = 133;  // one more than an H200 has multiprocessors
__device__ float end_of_exponentials;

__global__ void exponentials(int rounds) {
    if (blockIdx.x >= BUSY_BLOCKS) return;
    float x = threadIdx.x, y = x + 1.0f, z = x + 2.0f, w = x + 3.0f;
    for (int i = 0; i < rounds; i++) {
        x = __expf(x);
        y = __expf(y);
        z = __expf(z);
        w = __expf(w);
    }
    if (x + y + z + w == -1.0f) end_of_exponentials = x;
}
