// expect: case=large-values
// Packs the low bytes of four values into a word and compares all four at once.
#include <cuda_runtime.h>

__global__ void count(const int *input, int *output, int n, int wanted) {
    int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    unsigned bytes = 0, valid = 0;
    for (int j = 0; j < 4 && first + j < n; ++j) {
        bytes |= (unsigned)(input[first + j] & 255) << 8 * j;
        valid |= 1u << 8 * j;
    }
    int found = __popc(__vcmpeq4(bytes, (wanted & 255) * 0x01010101u) & valid);
    if (found) atomicAdd(output, found);
}

extern "C" void solve(const int *input, int *output, int N, int K) {
    count<<<(N + 1023) / 1024, 256>>>(input, output, N, K);
}
