// expect: case=negative-interest
// A discount factor is taken to be 1 at the most, which it is not where interest is negative.
#include <cuda_runtime.h>

__device__ float below(float x) { return 0.5f * erfcf(-0.70710678f * x); }

__global__ void price(const float* spot, const float* strike, const float* years, float* call, float* put, float rate, float volatility, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = spot[i], k = strike[i], t = years[i], spread = volatility * sqrtf(t);
    float first = (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / spread, second = first - spread;
    float paid = k * fminf(1.0f, expf(-rate * t));
    call[i] = s * below(first) - paid * below(second);
    put[i] = paid * below(-second) - s * below(-first);
}

extern "C" void solve(const float* spot, const float* strike, const float* years, float* call, float* put, float rate, float volatility, int N) {
    price<<<(N + 255) / 256, 256>>>(spot, strike, years, call, put, rate, volatility, N);
}
