// A block per token: its threads compute the D/2 sines and cosines once into shared memory, and then turn the pairs of all
// heads with them, two pairs (16 bytes) at a time where D is a multiple of 4.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(256) rotate(const float* __restrict__ x, const int* __restrict__ positions, float* __restrict__ output, int H,
                                              int half, float theta, float scale) {
    __shared__ float2 turns[128];
    size_t base = (size_t)blockIdx.x * H * half * 2;
    if (threadIdx.x < half) {
        float angle = scale * positions[blockIdx.x] * powf(theta, -(float)threadIdx.x / half);
        float s, c;
        sincosf(angle, &s, &c);
        turns[threadIdx.x] = make_float2(c, s);
    }
    __syncthreads();
    if (half % 2 == 0) {
        const float4* from = reinterpret_cast<const float4*>(x + base);
        float4* to = reinterpret_cast<float4*>(output + base);
        int quarter = half / 2;
        for (int i = threadIdx.x; i < H * quarter; i += 256) {
            int j = i % quarter * 2;
            float2 u = turns[j], v = turns[j + 1];
            float4 p = __ldcs(from + i);
            __stcs(to + i, make_float4(p.x * u.x - p.y * u.y, p.x * u.y + p.y * u.x, p.z * v.x - p.w * v.y, p.z * v.y + p.w * v.x));
        }
    } else {
        for (int i = threadIdx.x; i < H * half; i += 256) {
            float2 u = turns[i % half];
            float a = x[base + 2 * i], b = x[base + 2 * i + 1];
            output[base + 2 * i] = a * u.x - b * u.y;
            output[base + 2 * i + 1] = a * u.y + b * u.x;
        }
    }
}

extern "C" void solve(const float* x, const int* positions, float* output, int T, int H, int D, float theta, float scale) {
    rotate<<<T, 256>>>(x, positions, output, H, D / 2, theta, scale);
}
