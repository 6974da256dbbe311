// expect: case=far-below-zero
// The maximum starts at -10,000, which may be above every score.
#include <cuda_runtime.h>
__device__ __forceinline__ float ldnc(const float *p) {
    float v;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(p));
    return v;
}
__global__ void scores(const float *Q, const float *K, const int *bt, const int *len, float *sc, int H, int HK, int D,
                       int B, int MB) {
    int s = blockIdx.z, h = blockIdx.y, t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= len[s]) return;
    int g = h * HK / H, b = bt[s * MB + t / B];
    const float *k = K + (((size_t)b * B + t % B) * HK + g) * D, *q = Q + ((size_t)s * H + h) * D;
    float a = 0;
    for (int c = 0; c < D; c++) a += ldnc(q + c) * ldnc(k + c);
    sc[((size_t)s * H + h) * MB * B + t] = a / sqrtf((float)D);
}
__global__ void combine(const float *V, const int *bt, const int *len, const float *sc, float *O, int H, int HK, int D,
                        int B, int MB) {
    int s = blockIdx.y, h = blockIdx.x, g = h * HK / H, n = len[s];
    const float *z = sc + ((size_t)s * H + h) * MB * B;
    __shared__ float sm[8], sl[8];
    float m = -1e4f;
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    for (int t = threadIdx.x; t < n; t += 256) m = fmaxf(m, z[t]);
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (!lane) sm[w] = m;
    __syncthreads();
    m = sm[0];
    for (int i = 1; i < 8; i++) m = fmaxf(m, sm[i]);
    float l = 0;
    for (int t = threadIdx.x; t < n; t += 256) l += exp2f((z[t] - m) * 1.44269504f);
    for (int o = 16; o; o >>= 1) l += __shfl_xor_sync(~0u, l, o);
    if (!lane) sl[w] = l;
    __syncthreads();
    l = 0;
    for (int i = 0; i < 8; i++) l += sl[i];
    for (int c = threadIdx.x; c < D; c += 256) {
        float a = 0;
        for (int t = 0; t < n; t++)
            a += exp2f((z[t] - m) * 1.44269504f) * V[(((size_t)bt[s * MB + t / B] * B + t % B) * HK + g) * D + c];
        O[((size_t)s * H + h) * D + c] = a / l;
    }
}
extern "C" void solve(const float *Q, const float *K_cache, const float *V_cache, const int *block_table,
                      const int *lengths, float *output, int num_seqs, int num_heads, int num_kv_heads, int head_dim,
                      int block_size, int max_blocks) {
    float *sc;
    cudaMallocManaged(&sc, sizeof(float) * (size_t)num_seqs * num_heads * max_blocks * block_size);
    scores<<<dim3((max_blocks * block_size + 127) / 128, num_heads, num_seqs), 128>>>(
        Q, K_cache, block_table, lengths, sc, num_heads, num_kv_heads, head_dim, block_size, max_blocks);
    combine<<<dim3(num_heads, num_seqs), 256>>>(V_cache, block_table, lengths, sc, output, num_heads, num_kv_heads,
                                                head_dim, block_size, max_blocks);
    cudaDeviceSynchronize();
    cudaFree(sc);
}
