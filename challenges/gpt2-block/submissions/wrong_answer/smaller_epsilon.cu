// expect: case=small-spread
// Norms with 1e-6 in place of 1e-5.
#include <cuda_runtime.h>
constexpr float EPS = 1e-6f;
__global__ void norm(const float *x, const float *g, const float *b, float *y) {
    __shared__ float red[256];
    const float *r = x + blockIdx.x * 768;
    int t = threadIdx.x;
    float v[3], s = 0;
    for (int i = 0; i < 3; i++) s += v[i] = r[t + 256 * i];
    red[t] = s;
    __syncthreads();
    for (int o = 128; o; o /= 2) {
        if (t < o) red[t] += red[t + o];
        __syncthreads();
    }
    float mean = red[0] / 768;
    __syncthreads();
    s = 0;
    for (int i = 0; i < 3; i++) s += (v[i] - mean) * (v[i] - mean);
    red[t] = s;
    __syncthreads();
    for (int o = 128; o; o /= 2) {
        if (t < o) red[t] += red[t + o];
        __syncthreads();
    }
    float inv = 1 / sqrtf(red[0] / 768 + EPS);
    for (int i = 0; i < 3; i++)
        y[blockIdx.x * 768 + t + 256 * i] = (v[i] - mean) * inv * g[t + 256 * i] + b[t + 256 * i];
}
__global__ void mm(const float *x, const float *w, const float *b, const float *add, float *y, int I, int O, int gelu) {
    int o = blockIdx.x * 256 + threadIdx.x;
    if (o >= O) return;
    float s = 0;
    for (int i = 0; i < I; i++) s += x[blockIdx.y * I + i] * w[(size_t)i * O + o];
    s += b[o];
    if (gelu) s = 0.5f * s * (1 + tanhf(0.7978845608f * (s + 0.044715f * s * s * s)));
    if (add) s += add[blockIdx.y * O + o];
    y[blockIdx.y * O + o] = s;
}
__global__ void att(const float *qkv, float *y, int S) {
    int q = blockIdx.x, h = blockIdx.y, c = threadIdx.x;
    __shared__ float p[64];
    float m = -INFINITY, den = 0, acc = 0;
    const float *Q = qkv + q * 2304 + h * 64;
    for (int k = 0; k < S; k++) {
        __syncthreads();
        p[c] = Q[c] * qkv[k * 2304 + 768 + h * 64 + c];
        __syncthreads();
        float s = 0;
        for (int i = 0; i < 64; i++) s += p[i];
        s /= 8;
        float n = fmaxf(m, s), f = expf(m - n), e = expf(s - n);
        den = den * f + e;
        acc = acc * f + e * qkv[k * 2304 + 1536 + h * 64 + c];
        m = n;
    }
    y[q * 768 + h * 64 + c] = acc / den;
}
extern "C" void solve(const float *x, float *output, const float *w, int S) {
    float *a, *b, *c;
    cudaMalloc(&a, S * 3072 * 4);
    cudaMalloc(&b, S * 3072 * 4);
    cudaMalloc(&c, S * 768 * 4);
    norm<<<S, 256>>>(x, w, w + 768, a);
    mm<<<dim3(9, S), 256>>>(a, w + 1536, w + 1771008, 0, b, 768, 2304, 0);
    att<<<dim3(S, 12), 64>>>(b, a, S);
    mm<<<dim3(3, S), 256>>>(a, w + 1773312, w + 2363136, x, c, 768, 768, 0);
    norm<<<S, 256>>>(c, w + 2363904, w + 2364672, a);
    mm<<<dim3(12, S), 256>>>(a, w + 2365440, w + 4724736, 0, b, 768, 3072, 1);
    mm<<<dim3(3, S), 256>>>(b, w + 4727808, w + 7087104, c, output, 3072, 768, 0);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}
