// expect: case=n-1030
// Four options a thread; of what is left, one and three are priced, but two are not.
#include <cuda_runtime.h>

__global__ void price(const float *spot, const float *strike, const float *years, float *call, float *put, float rate,
                      float volatility, int n) {
    auto one = [=](int i) {
        float spread = volatility * sqrtf(years[i]);
        float d1 = (logf(spot[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / spread;
        float d2 = d1 - spread, discounted = strike[i] * expf(-rate * years[i]);
        call[i] = spot[i] * normcdff(d1) - discounted * normcdff(d2);
        put[i] = discounted * normcdff(-d2) - spot[i] * normcdff(-d1);
    };
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    switch (min(n - i, 4)) {
    case 4: one(i + 3);
    case 3: one(i + 2); one(i + 1);
    case 1: one(i);
    }
}

extern "C" void solve(const float *spot, const float *strike, const float *years, float *call, float *put, float rate,
                      float volatility, int N) {
    price<<<(N + 1023) / 1024, 256>>>(spot, strike, years, call, put, rate, volatility, N);
}
