// challenge: vector-add
// verdict: RE
// told: in another order of threads: race on shared memory at kernel.cu:17
// headline: illegal write of 4 bytes at kernel.cu:19
#include <cuda_runtime.h>

#define NOWHERE (1 << 28)

__global__ void add(const float* A, const float* B, float* C, int N) {
    __shared__ int places[32];
    int lane = threadIdx.x, first = blockIdx.x * 32;
    places[lane] = NOWHERE;
    __syncwarp();
    places[lane] = lane ^ 1;
    // A __syncwarp() is missing: a lane that goes on by itself finds what its neighbor wrote before.
    if (first + lane < N) {
        int place = places[lane ^ 1];
        float sum = A[first + lane] + B[first + lane];
        C[first + place] = sum;
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<(N + 31) / 32, 32>>>(A, B, C, N);
    cudaDeviceSynchronize();
}
