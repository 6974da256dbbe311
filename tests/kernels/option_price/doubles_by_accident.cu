// Constants without an f: the polynomial of the normal distribution is worked out in double precision.
#include <cuda_runtime.h>
#include <math.h>

__device__ float normal(float d) {
    float k = 1.0 / (1.0 + 0.2316419 * fabsf(d));
    float tail = 0.39894228040143268 * expf(-0.5 * d * d) *
                 (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))));
    return d > 0 ? 1.0 - tail : tail;
}

__global__ void prices(const float *price, const float *strike, const float *years, float *call, float *put, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = price[i], x = strike[i], t = years[i];
    float spread = 0.30 * sqrtf(t);
    float d1 = (logf(s / x) + (0.02 + 0.5 * 0.30 * 0.30) * t) / spread, d2 = d1 - spread;
    float discounted = x * expf(-0.02 * t);
    float value = s * normal(d1) - discounted * normal(d2);
    call[i] = value;
    put[i] = value - s + discounted;
}

extern "C" void solve(const float *price, const float *strike, const float *years, float *call, float *put, int n) {
    prices<<<(n + 255) / 256, 256>>>(price, strike, years, call, put, n);
}
