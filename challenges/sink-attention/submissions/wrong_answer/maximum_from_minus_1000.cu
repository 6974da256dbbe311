// expect: case=far-below-zero
// The running maximum starts at -1000, which may be above every score.
#include <cuda_runtime.h>
__global__ void attn(const float *Q, const float *K, const float *V, float *O, int first, int end, int d, int ns,
                     int w) {
    int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= end) return;
    float m = -1000.f, l = 0, acc[128];
#pragma unroll 1
    for (int c = 0; c < d; c++) acc[c] = 0;
    float sc = rsqrtf((float)d);
    auto see = [&](int j) {
        float s = 0;
        for (int c = 0; c < d; c++) s += Q[(size_t)i * d + c] * K[(size_t)j * d + c];
        s *= sc;
        if (s > m) {
            float r = expf(m - s);
            l *= r;
            for (int c = 0; c < d; c++) acc[c] *= r;
            m = s;
        }
        float e = expf(s - m);
        l += e;
        for (int c = 0; c < d; c++) acc[c] = fmaf(e, V[(size_t)j * d + c], acc[c]);
    };
    int b = i - w + 1;
    if (b < 0) b = 0;
    for (int j = 0; j < min(ns, b); j++) see(j);
    for (int j = b; j <= i; j++) see(j);
    for (int c = 0; c < d; c++) O[(size_t)i * d + c] = acc[c] / l;
}
extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int M, int d, int num_sinks,
                      int window_size) {
    cudaStream_t a, b;
    cudaEvent_t start, stop;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&start, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&stop, cudaEventDisableTiming);
    cudaEventRecord(start, 0);
    cudaStreamWaitEvent(a, start, 0);
    cudaStreamWaitEvent(b, start, 0);
    int h = M / 2;
    if (h) attn<<<(h + 63) / 64, 64, 0, a>>>(Q, K, V, output, 0, h, d, num_sinks, window_size);
    attn<<<(M - h + 63) / 64, 64, 0, b>>>(Q, K, V, output, h, M, d, num_sinks, window_size);
    cudaEventRecord(stop, a);
    cudaStreamWaitEvent(0, stop, 0);
    cudaEventRecord(stop, b);
    cudaStreamWaitEvent(0, stop, 0);
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
}
