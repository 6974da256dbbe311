// One block goes through the array, 512 elements at a time, and carries the open segment's sum from one stretch to the next.
#include <cuda_runtime.h>

constexpr int THREADS = 512;

struct Pair {
    float sum;
    int begun;
};

__device__ Pair combine(Pair left, Pair right) {
    return {right.begun ? right.sum : left.sum + right.sum, left.begun | right.begun};
}

__global__ void segmented(const float* values, const int* flags, float* output, int N) {
    __shared__ Pair shared[THREADS];
    float carried = 0.0f;
    for (int start = 0; start < N; start += THREADS) {
        int i = start + threadIdx.x;
        Pair own = {i < N ? values[i] : 0.0f, i < N ? flags[i] : 0};
        shared[threadIdx.x] = own;
        for (int distance = 1; distance < THREADS; distance *= 2) {
            __syncthreads();
            Pair below = threadIdx.x >= distance ? shared[threadIdx.x - distance] : Pair{0.0f, 0};
            __syncthreads();
            shared[threadIdx.x] = combine(below, shared[threadIdx.x]);
        }
        __syncthreads();
        // What lies before this element: the pair one place below, behind what came in.
        Pair before = threadIdx.x > 0 ? combine({carried, 0}, shared[threadIdx.x - 1]) : Pair{carried, 0};
        if (i < N) output[i] = own.begun ? 0.0f : before.sum;
        carried = combine({carried, 0}, shared[THREADS - 1]).sum;
        __syncthreads();
    }
}

extern "C" void solve(const float* values, const int* flags, float* output, int N) {
    segmented<<<1, THREADS>>>(values, flags, output, N);
}
