// expect: case=num-q-heads-60-num-kv-heads-20-seq-len-38-head-dim-36 cuda=WA,AC
// A block goes through several rows without a barrier between them: a warp that is ahead overwrites weights
// that others still read.
#include <cuda_runtime.h>
#include <math.h>

__device__ float bmax(float v, float* s) {
    for (int o = 16; o; o /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, o));
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    v = s[0];
    for (int i = 1; i < 4; i++) v = fmaxf(v, s[i]);
    return v;
}
__device__ float bsum(float v, float* s) {
    for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    v = s[0] + s[1] + s[2] + s[3];
    return v;
}
__device__ size_t at(int h, int i, int N, int d, int heads) { return ((size_t)h * N + i) * d; }
__global__ void k(const float* Q, const float* K, const float* V, float* O, int H, int G, int N, int d, float sc) {
    extern __shared__ float p[];
    __shared__ float sm[4], ss[4];
    for (int q = blockIdx.x; q < H * N; q += gridDim.x) {
        int h = q / N, i = q % N, kv = h / G;
        const float* a = Q + at(h, i, N, d, H);
        float m = -INFINITY;
        for (int j = threadIdx.x; j < N; j += 128) {
            const float* b = K + at(kv, j, N, d, H / G);
            float s = 0;
            for (int t = 0; t < d; t++) s += a[t] * b[t];
            p[j] = s * sc;
            m = fmaxf(m, p[j]);
        }
        m = bmax(m, sm);
        float z = 0;
        for (int j = threadIdx.x; j < N; j += 128) {
            p[j] = expf(p[j] - m);
            z += p[j];
        }
        z = bsum(z, ss);
        for (int t = threadIdx.x; t < d; t += 128) {
            float o = 0;
            for (int j = 0; j < N; j++) o += p[j] * V[at(kv, j, N, d, H / G) + t];
            O[at(h, i, N, d, H) + t] = o / z;
        }
    }
}
extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int num_q_heads, int num_kv_heads,
                      int seq_len, int head_dim) {
    int H = num_q_heads, G = num_q_heads / num_kv_heads, N = seq_len, d = head_dim;
    k<<<min(H * N, 2112), 128, N * 4>>>(Q, K, V, output, H, G, N, d, 1 / sqrtf((float)d));
}
