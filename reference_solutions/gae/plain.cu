// One thread a row, from the last step back.
#include <cuda_runtime.h>

__global__ void estimate(const float* rewards, const float* values, float* advantages, float gamma, float lam, int rows, int length) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= rows) return;
    long long first = (long long)b * length;
    float advantage = 0.0f, next_value = 0.0f;
    for (int t = length - 1; t >= 0; t--) {
        float value = values[first + t];
        advantage = rewards[first + t] + gamma * next_value - value + gamma * lam * advantage;
        advantages[first + t] = advantage;
        next_value = value;
    }
}

extern "C" void solve(const float* rewards, const float* values, float* advantages, float gamma, float lam, int B, int S) {
    estimate<<<(B + 31) / 32, 32>>>(rewards, values, advantages, gamma, lam, B, S);
}
