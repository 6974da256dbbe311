// challenge: matvec
// verdict: WA
// mode: SUBMIT
// told: race on shared memory at kernel.cu
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int PART = 4096, WARPS = 8;

// A warp a row; two buffers take turns with parts of x.
__global__ void multiply(const float* A, const float* x, float* y, int M, int N) {
    extern __shared__ float parts[];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x * WARPS + warp, count = (N + PART - 1) / PART;
    auto load = [&](int part) {
        for (int i = threadIdx.x; i < PART && part * PART + i < N; i += blockDim.x) {
            __pipeline_memcpy_async(parts + part % 2 * PART + i, x + part * PART + i, sizeof(float));
        }
        __pipeline_commit();
    };
    float sum = 0.0f;
    load(0);
    for (int part = 0; part < count; part++) {
        if (part + 1 < count) load(part + 1);
        else __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        if (row < M) {
            for (int i = lane; i < PART && part * PART + i < N; i += 32) {
                sum += A[static_cast<size_t>(row) * N + part * PART + i] * parts[part % 2 * PART + i];
            }
        }
        // Here a barrier is missing: the next copy goes to the buffer that slower warps still read.
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0 && row < M) y[row] = sum;
}

extern "C" void solve(const float* A, const float* x, float* y, int M, int N) {
    multiply<<<(M + WARPS - 1) / WARPS, WARPS * 32, 2 * PART * sizeof(float)>>>(A, x, y, M, N);
    cudaDeviceSynchronize();
}
