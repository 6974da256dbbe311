// A thread per pair computes its own angle.
#include <cuda_runtime.h>

__global__ void rotate(const float* x, const int* positions, float* output, size_t pairs, int H, int half, float theta, float scale) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    int j = i % half;
    int t = i / half / H;
    float angle = scale * positions[t] * powf(theta, -(float)j / half);
    float s, c;
    sincosf(angle, &s, &c);
    float a = x[2 * i], b = x[2 * i + 1];
    output[2 * i] = a * c - b * s;
    output[2 * i + 1] = a * s + b * c;
}

extern "C" void solve(const float* x, const int* positions, float* output, int T, int H, int D, float theta, float scale) {
    size_t pairs = (size_t)T * H * (D / 2);
    rotate<<<(unsigned)((pairs + 255) / 256), 256>>>(x, positions, output, pairs, H, D / 2, theta, scale);
}
