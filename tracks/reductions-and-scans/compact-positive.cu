// One block goes through the array, 512 elements at a time; ranks come from ballots, and the count is carried on.
#include <cuda_runtime.h>

constexpr int THREADS = 512;
constexpr int WARPS = THREADS / 32;

__global__ void compact(const float* A, int N, float* out) {
    __shared__ int of_warp[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int before = 0;
    for (int start = 0; start < N; start += THREADS) {
        int i = start + threadIdx.x;
        float value = i < N ? A[i] : 0.0f;
        unsigned kept = __ballot_sync(0xffffffffu, value > 0.0f);
        if (lane == 0) of_warp[warp] = __popc(kept);
        __syncthreads();
        int rank = before + __popc(kept & ((1u << lane) - 1));
        for (int w = 0; w < WARPS; w++) {
            if (w < warp) rank += of_warp[w];
            before += of_warp[w];
        }
        if (value > 0.0f) out[rank] = value;
        __syncthreads();
    }
    for (int i = before + threadIdx.x; i < N; i += THREADS) out[i] = 0.0f;
}

extern "C" void solve(const float* A, int N, float* out) { compact<<<1, THREADS>>>(A, N, out); }
