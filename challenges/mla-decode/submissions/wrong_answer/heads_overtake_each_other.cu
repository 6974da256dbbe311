// expect: case=heads-in-turn cuda=WA,AC
// A block goes through several heads without a barrier between them: a warp that is ahead overwrites weights
// that others still read.
#include <cuda_runtime.h>
#include <math.h>

__device__ float red(float v, float* s, bool mx) {
    for (int o = 16; o; o /= 2) {
        float w = __shfl_xor_sync(~0u, v, o);
        v = mx ? fmaxf(v, w) : v + w;
    }
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    v = s[0];
    for (int i = 1; i < 4; i++) v = mx ? fmaxf(v, s[i]) : v + s[i];
    return v;
}
__global__ void k(const float* ql, const float* qr, const float* c, const float* r, float* O, int B, int H, int N,
                  int L, int R, float sc) {
    extern __shared__ float p[];
    __shared__ float sm[4], ss[4];
    for (int q = blockIdx.x; q < B * H; q += gridDim.x) {
        int b = q / H;
        const float* C = c + (size_t)b * N * L;
        const float* P = r + (size_t)b * N * R;
        float m = -INFINITY;
        for (int j = threadIdx.x; j < N; j += 128) {
            float s = 0;
            for (int t = 0; t < L; t++) s += ql[(size_t)q * L + t] * C[(size_t)j * L + t];
            for (int t = 0; t < R; t++) s += qr[(size_t)q * R + t] * P[(size_t)j * R + t];
            p[j] = s * sc;
            m = fmaxf(m, p[j]);
        }
        m = red(m, sm, true);
        float z = 0;
        for (int j = threadIdx.x; j < N; j += 128) {
            p[j] = __expf(p[j] - m);
            z += p[j];
        }
        z = red(z, ss, false);
        for (int t = threadIdx.x; t < L; t += 128) {
            float o = 0;
            for (int j = 0; j < N; j++) o += p[j] * C[(size_t)j * L + t];
            O[(size_t)q * L + t] = o / z;
        }
    }
}
extern "C" void solve(const float* q_latent, const float* q_rope, const float* kv_latent, const float* k_rope,
                      float* output, int batch, int num_heads, int seq_len, int latent_dim, int rope_dim, float scale) {
    k<<<min(batch * num_heads, 1056), 128, seq_len * 4>>>(q_latent, q_rope, kv_latent, k_rope, output, batch, num_heads,
                                                          seq_len, latent_dim, rope_dim, scale);
}
