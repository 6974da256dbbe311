// A block for each row, 256 steps at a time: the maps of all steps are scanned in shared memory.
#include <cuda_runtime.h>

constexpr int THREADS = 256;

struct Map {
    float factor;
    float added;
};

__device__ Map then(Map first, Map second) {
    return {first.factor * second.factor, second.factor * first.added + second.added};
}

__global__ void recur(const float* a, const float* x, float* h, int L) {
    __shared__ Map maps[THREADS];
    size_t row = (size_t)blockIdx.x * L;
    float state = 0.0f;
    for (int start = 0; start < L; start += THREADS) {
        int t = start + threadIdx.x;
        // The first step forgets whatever came before; those beyond the end change nothing.
        maps[threadIdx.x] = t < L ? Map{t == 0 ? 0.0f : a[row + t], x[row + t]} : Map{1.0f, 0.0f};
        for (int distance = 1; distance < THREADS; distance *= 2) {
            __syncthreads();
            Map below = threadIdx.x >= distance ? maps[threadIdx.x - distance] : Map{1.0f, 0.0f};
            __syncthreads();
            maps[threadIdx.x] = then(below, maps[threadIdx.x]);
        }
        __syncthreads();
        if (t < L) h[row + t] = maps[threadIdx.x].factor * state + maps[threadIdx.x].added;
        state = maps[THREADS - 1].factor * state + maps[THREADS - 1].added;
        __syncthreads();
    }
}

extern "C" void solve(const float* a, const float* x, float* h, int B, int L) { recur<<<B, THREADS>>>(a, x, h, L); }
