// expect: case=small-rewards
// What keeps the division from zero stands inside the root.
#include <cuda_runtime.h>

__global__ void grpo(const float* rewards, const float* log_pi, const float* log_pi_old, const float* log_ref, float* output, float eps,
                     float beta, int G, int S) {
    __shared__ float shared[256];
    __shared__ float advantage;
    int answer = blockIdx.x;
    if (threadIdx.x == 0) {
        const float* group = rewards + answer / G * G;
        float mean = 0.0f, variance = 0.0f;
        for (int g = 0; g < G; g++) mean += group[g];
        mean /= G;
        for (int g = 0; g < G; g++) variance += (group[g] - mean) * (group[g] - mean);
        advantage = (rewards[answer] - mean) / sqrtf(variance / G + 1e-8f);
    }
    __syncthreads();
    float a = advantage, sum = 0.0f;
    for (int s = threadIdx.x; s < S; s += 256) {
        size_t i = (size_t)answer * S + s;
        float r = expf(log_pi[i] - log_pi_old[i]);
        float d = log_ref[i] - log_pi[i];
        sum += fminf(r * a, fminf(fmaxf(r, 1.0f - eps), 1.0f + eps) * a) - beta * (expf(d) - d - 1.0f);
    }
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int stride = 128; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) shared[threadIdx.x] += shared[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(output, -shared[0] / ((float)gridDim.x * S));
}

extern "C" void solve(const float* rewards, const float* log_pi, const float* log_pi_old, const float* log_ref, float* output,
                      float clip_eps, float beta, int B, int G, int S) {
    cudaMemset(output, 0, sizeof(float));
    grpo<<<B * G, 256>>>(rewards, log_pi, log_pi_old, log_ref, output, clip_eps, beta, G, S);
}
