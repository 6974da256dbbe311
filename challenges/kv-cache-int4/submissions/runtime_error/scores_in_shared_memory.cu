// expect: case=longest
// Keeps all scores of a head in shared memory, which holds at most 58,112.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>

__global__ void k(const float *Q, const uint8_t *K4, const uint8_t *V4, const half *ks, const half *km, const half *vs,
                  const half *vm, float *out, int S, int D, int g) {
    extern __shared__ float sc[];
    __shared__ float red[256];
    int h = blockIdx.x, t = threadIdx.x;
    float mx = -INFINITY;
    for (int s = t; s < S; s += 256) {
        float z = 0;
        for (int d = 0; d < D; d++) {
            size_t row = (size_t)h * S + s;
            int q = K4[row * (D / 2) + d / 2] >> (d % 2 * 4) & 15;
            float k = fmaf(__half2float(ks[row * (D / g) + d / g]), q, __half2float(km[row * (D / g) + d / g]));
            z += Q[h * D + d] * k;
        }
        z /= sqrtf((float)D);
        sc[s] = z;
        mx = fmaxf(mx, z);
    }
    red[t] = mx;
    __syncthreads();
    for (int o = 128; o; o /= 2) {
        if (t < o) red[t] = fmaxf(red[t], red[t + o]);
        __syncthreads();
    }
    mx = red[0];
    __syncthreads();
    float den = 0;
    for (int s = t; s < S; s += 256) den += sc[s] = expf(sc[s] - mx);
    red[t] = den;
    __syncthreads();
    for (int o = 128; o; o /= 2) {
        if (t < o) red[t] += red[t + o];
        __syncthreads();
    }
    den = red[0];
    for (int d = t; d < D; d += 256) {
        float a = 0;
        for (int s = 0; s < S; s++) {
            size_t row = (size_t)h * S + s;
            int q = V4[row * (D / 2) + d / 2] >> (d % 2 * 4) & 15;
            float v = fmaf(__half2float(vs[row * (D / g) + d / g]), q, __half2float(vm[row * (D / g) + d / g]));
            a += sc[s] * v;
        }
        out[h * D + d] = a / den;
    }
}
extern "C" void solve(const float *Q, const uint8_t *K4, const uint8_t *V4, const half *k_scale, const half *k_min,
                      const half *v_scale, const half *v_min, float *output, int num_heads, int seq_len, int head_dim,
                      int group) {
    cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 220 * 1024);
    k<<<num_heads, 256, seq_len * 4>>>(Q, K4, V4, k_scale, k_min, v_scale, v_min, output, seq_len, head_dim, group);
}
