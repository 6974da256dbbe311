// Four weights per thread, by 16-byte loads that are all under way before the first is used; divisions by
// the corrections become products with numbers made on the host.
#include <cmath>
#include <cuda_runtime.h>

struct Step {
    float beta1, rest1, beta2, rest2, size, inverse_root, eps, keep;
};

__device__ void update(float& w, float g, float& m, float& v, const Step& s) {
    m = fmaf(s.beta1, m, s.rest1 * g);
    v = fmaf(s.beta2, v, s.rest2 * g * g);
    w = fmaf(s.keep, w, -s.size * m / fmaf(sqrtf(v), s.inverse_root, s.eps));
}

__global__ void __launch_bounds__(256) adam(float* __restrict__ weights, const float* __restrict__ gradients, float* __restrict__ first,
                                            float* __restrict__ second, Step s, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N / 4) {
        float4 w = reinterpret_cast<float4*>(weights)[i], g = reinterpret_cast<const float4*>(gradients)[i];
        float4 m = reinterpret_cast<float4*>(first)[i], v = reinterpret_cast<float4*>(second)[i];
        update(w.x, g.x, m.x, v.x, s);
        update(w.y, g.y, m.y, v.y, s);
        update(w.z, g.z, m.z, v.z, s);
        update(w.w, g.w, m.w, v.w, s);
        reinterpret_cast<float4*>(weights)[i] = w;
        reinterpret_cast<float4*>(first)[i] = m;
        reinterpret_cast<float4*>(second)[i] = v;
    }
    int last = N / 4 * 4 + i;
    if (i < N % 4) update(weights[last], gradients[last], first[last], second[last], s);
}

extern "C" void solve(float* weights, const float* gradients, float* first, float* second, float rate, float beta1, float beta2, float eps,
                      float decay, int step, int N) {
    double correction1 = 1.0 - std::pow((double)beta1, step), correction2 = 1.0 - std::pow((double)beta2, step);
    Step s = {beta1, 1.0f - beta1, beta2, 1.0f - beta2, (float)(rate / correction1), (float)(1.0 / std::sqrt(correction2)),
              eps, (float)(1.0 - (double)rate * decay)};
    adam<<<(N / 4 + 256) / 256, 256>>>(weights, gradients, first, second, s, N);
}
