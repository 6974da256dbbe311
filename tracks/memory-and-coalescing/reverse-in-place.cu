// One thread per pair of elements, which it exchanges.
#include <cuda_runtime.h>

__global__ void reverse(float* input, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N / 2) return;
    float front = input[i];
    input[i] = input[N - 1 - i];
    input[N - 1 - i] = front;
}

extern "C" void solve(float* input, int N) {
    if (N < 2) return;
    reverse<<<(N / 2 + 255) / 256, 256>>>(input, N);
}
