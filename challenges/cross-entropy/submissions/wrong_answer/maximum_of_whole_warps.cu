// expect: case=rising
// A warp takes the maximum over whole rounds of 32 logits alone. What stands behind them may be larger by more than exp
// can take.
#include <cuda_runtime.h>

__global__ void of_rows(const float* logits, const int* labels, double* total, int N, int C) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= N) return;
    const float* z = logits + (size_t)row * C;
    int whole = C < 32 ? C : C / 32 * 32;
    float top = z[0], sum = 0;
    for (int c = lane; c < whole; c += 32) top = fmaxf(top, z[c]);
    for (int step = 16; step; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    for (int c = lane; c < C; c += 32) sum += expf(z[c] - top);
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0) atomicAdd(total, (double)(logf(sum) + top - z[labels[row]]));
}

__global__ void mean(const double* total, float* loss, int N) { *loss = (float)(*total / N); }

extern "C" void solve(const float* logits, const int* true_labels, float* loss, int N, int C) {
    double* total;
    cudaMalloc(&total, sizeof(double));
    cudaMemset(total, 0, sizeof(double));
    of_rows<<<(N + 3) / 4, 128>>>(logits, true_labels, total, N, C);
    mean<<<1, 1>>>(total, loss, N);
    cudaFree(total);
}
