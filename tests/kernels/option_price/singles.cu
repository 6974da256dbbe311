// In single precision, functions and divisions rounded as the standard library has them.
#include <cuda_runtime.h>
#include <math.h>

__device__ float normal(float d) { return 0.5f * erfcf(-d * 0.70710678f); }

__global__ void prices(const float *price, const float *strike, const float *years, float *call, float *put, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = price[i], x = strike[i], t = years[i];
    float spread = 0.30f * sqrtf(t);
    float d1 = (logf(s / x) + (0.02f + 0.5f * 0.30f * 0.30f) * t) / spread, d2 = d1 - spread;
    float discounted = x * expf(-0.02f * t);
    float value = s * normal(d1) - discounted * normal(d2);
    call[i] = value;
    put[i] = value - s + discounted;
}

extern "C" void solve(const float *price, const float *strike, const float *years, float *call, float *put, int n) {
    prices<<<(n + 255) / 256, 256>>>(price, strike, years, call, put, n);
}
