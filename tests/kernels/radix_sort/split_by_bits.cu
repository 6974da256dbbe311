// A bit at a time: where the zeros go comes from a scan over the whole, 32 times over.
#include <cuda_runtime.h>

constexpr int BLOCK = 512;

__global__ void scan_blocks(const unsigned *keys, int *places, int *sums, int n, int bit) {
    __shared__ int part[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    int zero = i < n && !(keys[i] >> bit & 1);
    part[t] = zero;
    __syncthreads();
    for (int distance = 1; distance < BLOCK; distance *= 2) {
        int before = t >= distance ? part[t - distance] : 0;
        __syncthreads();
        part[t] += before;
        __syncthreads();
    }
    if (i < n) places[i] = part[t] - zero;
    if (t == BLOCK - 1) sums[blockIdx.x] = part[t];
}

// One block goes over all the sums and leaves what came before each, and the whole at the end.
__global__ void scan_sums(int *sums, int count) {
    __shared__ int part[1024], carry;
    int t = threadIdx.x;
    if (t == 0) carry = 0;
    __syncthreads();
    for (int first = 0; first < count; first += 1024) {
        int value = first + t < count ? sums[first + t] : 0;
        part[t] = value;
        __syncthreads();
        for (int distance = 1; distance < 1024; distance *= 2) {
            int before = t >= distance ? part[t - distance] : 0;
            __syncthreads();
            part[t] += before;
            __syncthreads();
        }
        if (first + t < count) sums[first + t] = carry + part[t] - value;
        __syncthreads();
        if (t == 0) carry += part[1023];
        __syncthreads();
    }
    if (t == 0) sums[count] = carry;
}

__global__ void scatter(const unsigned *keys, unsigned *to, const int *places, const int *sums, int n, int bit, int blocks) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    int zeros_before = places[i] + sums[blockIdx.x], zeros = sums[blocks];
    to[keys[i] >> bit & 1 ? zeros + i - zeros_before : zeros_before] = keys[i];
}

extern "C" void solve(const unsigned *in, unsigned *out, int n) {
    static unsigned *other = nullptr;
    static int *places = nullptr, room = 0;
    int blocks = (n + BLOCK - 1) / BLOCK;
    if (room < n) {
        cudaFree(other);
        cudaFree(places);
        cudaMalloc(&other, n * sizeof(unsigned));
        cudaMalloc(&places, (n + blocks + 1) * sizeof(int));
        room = n;
    }
    const unsigned *from = in;
    for (int bit = 0; bit < 32; bit++) {
        unsigned *to = bit % 2 ? out : other;
        scan_blocks<<<blocks, BLOCK>>>(from, places, places + n, n, bit);
        scan_sums<<<1, 1024>>>(places + n, blocks);
        scatter<<<blocks, BLOCK>>>(from, to, places, places + n, n, bit, blocks);
        from = to;
    }
}
