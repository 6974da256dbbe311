// Blocks walk over the pairs, halve their sums in shared memory and add them with one atomic each.
#include <cuda_runtime.h>

__global__ void dpo(const float* chosen, const float* rejected, const float* chosen_ref, const float* rejected_ref, float* output,
                    float beta, int B) {
    __shared__ float shared[256];
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < B; i += gridDim.x * 256) {
        float z = beta * ((chosen[i] - rejected[i]) - (chosen_ref[i] - rejected_ref[i]));
        sum += fmaxf(-z, 0.0f) + log1pf(expf(-fabsf(z)));
    }
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int stride = 128; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) shared[threadIdx.x] += shared[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(output, shared[0] / B);
}

extern "C" void solve(const float* chosen_logps, const float* rejected_logps, const float* chosen_ref_logps, const float* rejected_ref_logps,
                      float* output, float beta, int B) {
    cudaMemset(output, 0, sizeof(float));
    dpo<<<min(1024, (B + 255) / 256), 256>>>(chosen_logps, rejected_logps, chosen_ref_logps, rejected_ref_logps, output, beta, B);
}
