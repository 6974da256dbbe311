// expect: case=total-65536-sequences-1023-heads-1-head-dim-8
// A block for each token in y, of which there may be 65,536.
#include <cuda_runtime.h>
#include <cuda_fp16.h>
__global__ void k(const half *Q, const half *K, const half *V, const int *off, half *O, int heads, int d, int causal) {
    int t = blockIdx.y, h = blockIdx.x, lane = threadIdx.x, s = 0;
    while (off[s + 1] <= t) s++;
    int b = off[s], e = causal ? t + 1 : off[s + 1];
    size_t st = (size_t)heads * d;
    float m = -INFINITY, l = 0, a[4] = {}, q[4];
    for (int i = 0; i < 4; i++)
        q[i] = lane + 32 * i < d ? __half2float(Q[t * st + h * d + lane + 32 * i]) * rsqrtf(d) : 0;
    for (int j = b; j < e; j++) {
        float z = 0;
        for (int i = 0; i < 4; i++)
            if (lane + 32 * i < d) z += q[i] * __half2float(K[j * st + h * d + lane + 32 * i]);
        for (int o = 16; o; o >>= 1) z += __shfl_xor_sync(~0u, z, o);
        float n = fmaxf(m, z), r = __expf(m - n), w = __expf(z - n);
        m = n;
        l = l * r + w;
        for (int i = 0; i < 4; i++)
            if (lane + 32 * i < d) a[i] = a[i] * r + w * __half2float(V[j * st + h * d + lane + 32 * i]);
    }
    for (int i = 0; i < 4; i++)
        if (lane + 32 * i < d) O[t * st + h * d + lane + 32 * i] = __float2half(a[i] / l);
}
extern "C" void solve(const half *Q, const half *K, const half *V, const int *offsets, half *output, int total,
                      int sequences, int heads, int head_dim, int causal) {
    k<<<dim3(heads, total), 32>>>(Q, K, V, offsets, output, heads, head_dim, causal);
}
