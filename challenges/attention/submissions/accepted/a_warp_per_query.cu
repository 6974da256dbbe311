// A warp per query with cooperative groups; a template over how many columns a lane holds.
#include "solve.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
template <int DPL>
__global__ void __launch_bounds__(128) k(const float* __restrict__ Q, const float* __restrict__ K,
                                         const float* __restrict__ V, float* O, int M, int N, int d) {
    auto w = cg::tiled_partition<32>(cg::this_thread_block());
    int q = blockIdx.x * w.meta_group_size() + w.meta_group_rank(), ln = w.thread_rank();
    if (q >= M) return;
    float qr[DPL], acc[DPL];
    float sc = rsqrtf((float)d);
#pragma unroll
    for (int i = 0; i < DPL; i++) {
        int c = i * 32 + ln;
        qr[i] = c < d ? Q[(size_t)q * d + c] * sc : 0.f;
        acc[i] = 0;
    }
    float m = -INFINITY, l = 0;
    for (int j = 0; j < N; j++) {
        float s = 0;
#pragma unroll
        for (int i = 0; i < DPL; i++) {
            int c = i * 32 + ln;
            if (c < d) s = fmaf(qr[i], __ldg(&K[(size_t)j * d + c]), s);
        }
        s = cg::reduce(w, s, cg::plus<float>());
        float nm = fmaxf(m, s), a = __expf(m - nm), p = __expf(s - nm);
        l = l * a + p;
        m = nm;
#pragma unroll
        for (int i = 0; i < DPL; i++) {
            int c = i * 32 + ln;
            if (c < d) acc[i] = acc[i] * a + p * __ldg(&V[(size_t)j * d + c]);
        }
    }
#pragma unroll
    for (int i = 0; i < DPL; i++) {
        int c = i * 32 + ln;
        if (c < d) O[(size_t)q * d + c] = acc[i] / l;
    }
}
void solve(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) {
    int g = (M + 3) / 4;
    switch ((d + 31) / 32) {
        case 1:
            k<1><<<g, 128>>>(Q, K, V, output, M, N, d);
            break;
        case 2:
            k<2><<<g, 128>>>(Q, K, V, output, M, N, d);
            break;
        case 3:
            k<3><<<g, 128>>>(Q, K, V, output, M, N, d);
            break;
        default:
            k<4><<<g, 128>>>(Q, K, V, output, M, N, d);
    }
}
