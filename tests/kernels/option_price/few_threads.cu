// Fast functions, but only 64 blocks of 64 threads that stride through all options: too few to hide the memory.
#include <cuda_runtime.h>

__device__ float normal(float d) {
    float k = __fdividef(1.0f, 1.0f + 0.2316419f * fabsf(d));
    float tail = 0.39894228f * __expf(-0.5f * d * d) *
                 (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
}

__global__ void prices(const float *price, const float *strike, const float *years, float *call, float *put, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float s = price[i], x = strike[i], t = years[i];
        float spread = 0.30f * __fsqrt_rn(t);
        float d1 = __fdividef(__logf(__fdividef(s, x)) + (0.02f + 0.5f * 0.30f * 0.30f) * t, spread), d2 = d1 - spread;
        float discounted = x * __expf(-0.02f * t);
        float value = s * normal(d1) - discounted * normal(d2);
        call[i] = value;
        put[i] = value - s + discounted;
    }
}

extern "C" void solve(const float *price, const float *strike, const float *years, float *call, float *put, int n) {
    prices<<<64, 64>>>(price, strike, years, call, put, n);
}
