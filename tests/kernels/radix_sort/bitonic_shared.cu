// The same network; steps within 2048 numbers are done in shared memory, many to a launch.
#include <cuda_runtime.h>

constexpr int THREADS = 512, BLOCK = 2048;

__global__ void exchange(unsigned *data, int distance, int run) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int i = t / distance * 2 * distance + t % distance;
    unsigned a = data[i], b = data[i + distance];
    if ((a > b) == ((i & run) == 0)) {
        data[i] = b;
        data[i + distance] = a;
    }
}

__device__ void merge(unsigned *part, int first, int distance, int run) {
    for (; distance > 0; distance /= 2) {
        for (int t = threadIdx.x; t < BLOCK / 2; t += THREADS) {
            int i = t / distance * 2 * distance + t % distance;
            unsigned a = part[i], b = part[i + distance];
            if ((a > b) == (((first + i) & run) == 0)) {
                part[i] = b;
                part[i + distance] = a;
            }
        }
        __syncthreads();
    }
}

__global__ void sort_blocks(const unsigned *in, unsigned *data, int n) {
    __shared__ unsigned part[BLOCK];
    int first = blockIdx.x * BLOCK;
    for (int i = threadIdx.x; i < BLOCK; i += THREADS) part[i] = first + i < n ? in[first + i] : 0xffffffffu;
    __syncthreads();
    for (int run = 2; run <= BLOCK; run *= 2) merge(part, first, run / 2, run);
    for (int i = threadIdx.x; i < BLOCK; i += THREADS) data[first + i] = part[i];
}

__global__ void merge_blocks(unsigned *data, int run) {
    __shared__ unsigned part[BLOCK];
    int first = blockIdx.x * BLOCK;
    for (int i = threadIdx.x; i < BLOCK; i += THREADS) part[i] = data[first + i];
    __syncthreads();
    merge(part, first, BLOCK / 2, run);
    for (int i = threadIdx.x; i < BLOCK; i += THREADS) data[first + i] = part[i];
}

extern "C" void solve(const unsigned *in, unsigned *out, int n) {
    static unsigned *data = nullptr;
    static int room = 0;
    int padded = BLOCK;
    while (padded < n) padded *= 2;
    if (room < padded) {
        cudaFree(data);
        cudaMalloc(&data, padded * sizeof(unsigned));
        room = padded;
    }
    sort_blocks<<<padded / BLOCK, THREADS>>>(in, data, n);
    for (int run = 2 * BLOCK; run <= padded; run *= 2) {
        for (int distance = run / 2; distance >= BLOCK; distance /= 2) exchange<<<padded / 512, 256>>>(data, distance, run);
        merge_blocks<<<padded / BLOCK, THREADS>>>(data, run);
    }
    cudaMemcpyAsync(out, data, n * sizeof(unsigned), cudaMemcpyDeviceToDevice);
}
