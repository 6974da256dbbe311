// A bitonic network whose every step is a launch, on a copy padded to a power of two.
#include <cuda_runtime.h>

__global__ void load(const unsigned *in, unsigned *data, int n, int padded) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < padded) data[i] = i < n ? in[i] : 0xffffffffu;
}

__global__ void exchange(unsigned *data, int distance, int run) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ distance;
    if (other <= i) return;
    unsigned a = data[i], b = data[other];
    bool up = (i & run) == 0;
    if ((a > b) == up) {
        data[i] = b;
        data[other] = a;
    }
}

static unsigned *scratch(int count) {
    static unsigned *data = nullptr;
    static int room = 0;
    if (room < count) {
        cudaFree(data);
        cudaMalloc(&data, count * sizeof(unsigned));
        room = count;
    }
    return data;
}

extern "C" void solve(const unsigned *in, unsigned *out, int n) {
    int padded = 256;
    while (padded < n) padded *= 2;
    unsigned *data = scratch(padded);
    load<<<padded / 256, 256>>>(in, data, n, padded);
    for (int run = 2; run <= padded; run *= 2) {
        for (int distance = run / 2; distance > 0; distance /= 2) exchange<<<padded / 256, 256>>>(data, distance, run);
    }
    cudaMemcpyAsync(out, data, n * sizeof(unsigned), cudaMemcpyDeviceToDevice);
}
