// A thread per option.
#include <cuda_runtime.h>

__global__ void price(const float* spot, const float* strike, const float* years, float* call, float* put, float rate, float volatility,
                      int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float S = spot[i], T = years[i], spread = volatility * sqrtf(T);
    float d1 = (logf(S / strike[i]) + (rate + 0.5f * volatility * volatility) * T) / spread, d2 = d1 - spread;
    float K = strike[i] * expf(-rate * T);
    call[i] = S * normcdff(d1) - K * normcdff(d2);
    put[i] = K * normcdff(-d2) - S * normcdff(-d1);
}

extern "C" void solve(const float* spot, const float* strike, const float* years, float* call, float* put, float rate, float volatility,
                      int N) {
    price<<<(N + 255) / 256, 256>>>(spot, strike, years, call, put, rate, volatility, N);
}
