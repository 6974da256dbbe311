// Hillis and Steele over the whole array: a launch for each power of two, from one buffer into the other.
#include <cuda_runtime.h>

__global__ void step(const int *from, int *to, int n, int distance) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i] + (i >= distance ? from[i - distance] : 0);
}

extern "C" void solve(const int *in, int *out, int n) {
    static int *other = nullptr;
    static int room = 0;
    if (room < n) {
        cudaFree(other);
        cudaMalloc(&other, n * sizeof(int));
        room = n;
    }
    int steps = 0;
    while (1ll << steps < n) steps++;
    // Ends in `out` whether the number of steps is odd or even.
    const int *from = in;
    for (int s = 0; s < steps; s++) {
        int *to = (steps - s) % 2 ? out : other;
        step<<<(n + 255) / 256, 256>>>(from, to, n, 1 << s);
        from = to;
    }
    if (steps == 0) cudaMemcpyAsync(out, in, n * sizeof(int), cudaMemcpyDeviceToDevice);
}
