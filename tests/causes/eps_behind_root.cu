// challenge: rms-norm-backward
// verdict: WA
// mode: SUBMIT
// told: elements differ
// headline: dx[
// untold: imprecise
// eps is added behind the root: that shows by little where it is small, and by much where it is not.
// A block per row for dx, which leaves what it found of the row for a second kernel: a thread per column adds up all rows.
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__device__ float block_sum(float value) {
    __shared__ float shared[THREADS];
    int t = threadIdx.x;
    shared[t] = value;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (t < stride) shared[t] += shared[t + stride];
        __syncthreads();
    }
    value = shared[0];
    __syncthreads();
    return value;
}

__global__ void of_rows(const float* x, const float* weight, const float* dy, float* dx, float* found, int C, float eps) {
    size_t first = (size_t)blockIdx.x * C;
    float squares = 0.0f, along = 0.0f;
    for (int c = threadIdx.x; c < C; c += THREADS) squares += x[first + c] * x[first + c];
    float factor = 1.0f / (sqrtf(block_sum(squares) / C) + eps);
    for (int c = threadIdx.x; c < C; c += THREADS) {
        float toward = dy[first + c] * weight[c];
        along += toward * x[first + c] * factor;
    }
    along = block_sum(along) / C;
    for (int c = threadIdx.x; c < C; c += THREADS) {
        dx[first + c] = factor * (dy[first + c] * weight[c] - x[first + c] * factor * along);
    }
    if (threadIdx.x == 0) found[blockIdx.x] = factor;
}

__global__ void of_columns(const float* x, const float* dy, const float* found, float* dweight, int N, int C) {
    int c = blockIdx.x * THREADS + threadIdx.x;
    if (c >= C) return;
    float weight = 0.0f;
    for (size_t n = 0; n < N; n++) {
        weight += dy[n * C + c] * x[n * C + c] * found[n];
    }
    dweight[c] = weight;
}

extern "C" void solve(const float* x, const float* weight, const float* dy, float* dx, float* dweight, int N, int C, float eps) {
    float* found;
    cudaMalloc(&found, sizeof(float) * N);
    of_rows<<<N, THREADS>>>(x, weight, dy, dx, found, C, eps);
    of_columns<<<(C + THREADS - 1) / THREADS, THREADS>>>(x, dy, found, dweight, N, C);
    cudaFree(found);
}
