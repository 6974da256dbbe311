// expect: case=late
// After a thousand steps the first moment is taken as it is: with a long memory it still lacks a part then.
#include <cmath>
#include <cuda_runtime.h>

__global__ void adam(float* weights, const float* gradients, float* first, float* second, float rate, float beta1, float beta2, float eps,
                     float decay, float correction1, float correction2, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float g = gradients[i];
    float m = beta1 * first[i] + (1.0f - beta1) * g;
    float v = beta2 * second[i] + (1.0f - beta2) * g * g;
    first[i] = m;
    second[i] = v;
    weights[i] -= rate * (decay * weights[i] + m / correction1 / (sqrtf(v / correction2) + eps));
}

extern "C" void solve(float* weights, const float* gradients, float* first, float* second, float rate, float beta1, float beta2, float eps,
                      float decay, int step, int N) {
    float correction1 = step > 1000 ? 1.0f : (float)(1.0 - std::pow((double)beta1, step)), correction2 = (float)(1.0 - std::pow((double)beta2, step));
    adam<<<(N + 255) / 256, 256>>>(weights, gradients, first, second, rate, beta1, beta2, eps, decay, correction1, correction2, N);
}
