// expect: case=large-scores
// The maximum is taken of later keys, too, so that all that counts may vanish.
#include <cuda_runtime.h>
__global__ void attn(const float *Q, const float *K, const float *V, float *O, float *S, int M, int d) {
    int i = blockIdx.x;
    float *s = S + (size_t)i * M;
    __shared__ float red[128];
    float sc = rsqrtf((float)d), m = -INFINITY, l = 0;
    for (int j = threadIdx.x; j < M; j += 128) {
        float a = 0;
        for (int c = 0; c < d; c++) a += Q[(size_t)i * d + c] * K[(size_t)j * d + c];
        s[j] = a * sc;
        m = fmaxf(m, s[j]);
    }
    red[threadIdx.x] = m;
    __syncthreads();
    for (int o = 64; o; o >>= 1) {
        if (threadIdx.x < o) red[threadIdx.x] = fmaxf(red[threadIdx.x], red[threadIdx.x + o]);
        __syncthreads();
    }
    m = red[0];
    __syncthreads();
    for (int j = threadIdx.x; j < M; j += 128) {
        s[j] = j <= i ? expf(s[j] - m) : 0;
        l += s[j];
    }
    red[threadIdx.x] = l;
    __syncthreads();
    for (int o = 64; o; o >>= 1) {
        if (threadIdx.x < o) red[threadIdx.x] += red[threadIdx.x + o];
        __syncthreads();
    }
    l = red[0];
    for (int c = threadIdx.x; c < d; c += 128) {
        float a = 0;
        for (int j = 0; j <= i; j++) a += s[j] * V[(size_t)j * d + c];
        O[(size_t)i * d + c] = a / l;
    }
}
extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int M, int d) {
    float *S;
    cudaMalloc(&S, 4ull * M * M);
    attn<<<M, 128>>>(Q, K, V, output, S, M, d);
    cudaFree(S);
}
