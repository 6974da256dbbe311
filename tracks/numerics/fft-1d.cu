// The definition, one thread a bin. The product of the indices is reduced modulo N in integers, so that the angle is as
// accurate for large indices as for small ones.
#include <cuda_runtime.h>

__global__ void transform(const float2* signal, float2* spectrum, int n) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n) return;
    float2 sum = {0.0f, 0.0f};
    int turn = 0;  // k * j modulo n
    for (int j = 0; j < n; j++) {
        float sine, cosine;
        sincospif(-2.0f * turn / n, &sine, &cosine);
        float2 x = signal[j];
        sum.x += x.x * cosine - x.y * sine;
        sum.y += x.x * sine + x.y * cosine;
        turn += k;
        if (turn >= n) turn -= n;
    }
    spectrum[k] = sum;
}

extern "C" void solve(const float* signal, float* spectrum, int N) {
    transform<<<(N + 127) / 128, 128>>>(reinterpret_cast<const float2*>(signal), reinterpret_cast<float2*>(spectrum), N);
}
