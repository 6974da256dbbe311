// challenge: reverse-in-place
// verdict: WA
// told: and there is no __syncthreads() or __syncwarp() between them
#include <cuda_runtime.h>

// A warp reverses 32 numbers at each end; what a lane reads, another one has written just before.
__global__ void swap_ends(float* input, int N) {
    __shared__ float low[8][32], high[8][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int first = (blockIdx.x * 8 + warp) * 32;
    int count = min(32, N / 2 - first);
    if (count <= 0) return;
    if (lane < count) {
        low[warp][lane] = input[first + lane];
        high[warp][lane] = input[N - first - count + lane];
        input[first + lane] = high[warp][count - 1 - lane];
        input[N - first - count + lane] = low[warp][count - 1 - lane];
    }
}

extern "C" void solve(float* input, int N) {
    swap_ends<<<(N / 2 + 255) / 256 + 1, 256>>>(input, N);
    cudaDeviceSynchronize();
}
