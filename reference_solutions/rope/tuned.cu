// A thread makes four pairs (or one, where rows are not made of fours): both halves of Q are read once, and of the tables
// only the first halves, since the second are equal. All accesses are 16 bytes long.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(256) rotate4(const float4* __restrict__ Q, const float4* __restrict__ cos, const float4* __restrict__ sin,
                                               float4* __restrict__ output, long long count, int half) {
    long long i = (long long)blockIdx.x * 256 + threadIdx.x;
    if (i >= count) return;
    long long row = i / half;
    size_t first = row * 2 * half + (i - row * half), second = first + half;
    float4 a = Q[first], b = Q[second], c = cos[first], s = sin[first];
    output[first] = make_float4(fmaf(a.x, c.x, -b.x * s.x), fmaf(a.y, c.y, -b.y * s.y), fmaf(a.z, c.z, -b.z * s.z), fmaf(a.w, c.w, -b.w * s.w));
    output[second] = make_float4(fmaf(b.x, c.x, a.x * s.x), fmaf(b.y, c.y, a.y * s.y), fmaf(b.z, c.z, a.z * s.z), fmaf(b.w, c.w, a.w * s.w));
}

__global__ void __launch_bounds__(256) rotate1(const float* __restrict__ Q, const float* __restrict__ cos, const float* __restrict__ sin,
                                               float* __restrict__ output, long long count, int half) {
    long long i = (long long)blockIdx.x * 256 + threadIdx.x;
    if (i >= count) return;
    size_t first = i / half * 2 * half + i % half, second = first + half;
    float a = Q[first], b = Q[second], c = cos[first], s = sin[first];
    output[first] = fmaf(a, c, -b * s);
    output[second] = fmaf(b, c, a * s);
}

extern "C" void solve(float* Q, float* cos, float* sin, float* output, int M, int D) {
    int half = D / 2;
    if (half % 4 == 0) {
        long long count = (long long)M * (half / 4);
        rotate4<<<(unsigned)((count + 255) / 256), 256>>>(reinterpret_cast<float4*>(Q), reinterpret_cast<float4*>(cos),
                                                          reinterpret_cast<float4*>(sin), reinterpret_cast<float4*>(output), count, half / 4);
    } else {
        long long count = (long long)M * half;
        rotate1<<<(unsigned)((count + 255) / 256), 256>>>(Q, cos, sin, output, count, half);
    }
}
