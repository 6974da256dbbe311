// expect: case=unlikely-actions
// Divides the exponentials of the two logarithms: below -104 both are zero.
#include <cuda_runtime.h>

__global__ void add(const float* advantages, const float* log_pi, const float* log_pi_old, double* total, float clip_eps, int count) {
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        float ratio = expf(log_pi[i]) / expf(log_pi_old[i]), a = advantages[i];
        sum += fminf(ratio * a, fminf(fmaxf(ratio, 1 - clip_eps), 1 + clip_eps) * a);
    }
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

__global__ void mean(const double* total, float* output, int count) { *output = (float)(-*total / count); }

extern "C" void solve(const float* advantages, const float* log_pi, const float* log_pi_old, float* output,
                      float clip_eps, int B, int S) {
    double* total;
    cudaMalloc(&total, sizeof(double));
    cudaMemset(total, 0, sizeof(double));
    add<<<32, 256>>>(advantages, log_pi, log_pi_old, total, clip_eps, B * S);
    mean<<<1, 1>>>(total, output, B * S);
    cudaFree(total);
}
