// One thread per element: a loop over rounds, and in it one over bytes.
#include <cuda_runtime.h>

__global__ void hash(const int* input, unsigned int* output, int N, int R) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    unsigned value = input[i];
    for (int round = 0; round < R; round++) {
        unsigned h = 2166136261u;
        for (int byte = 0; byte < 4; byte++) {
            h = (h ^ (value & 0xffu)) * 16777619u;
            value >>= 8;
        }
        value = h;
    }
    output[i] = value;
}

extern "C" void solve(const int* input, unsigned int* output, int N, int R) {
    hash<<<(N + 255) / 256, 256>>>(input, output, N, R);
}
