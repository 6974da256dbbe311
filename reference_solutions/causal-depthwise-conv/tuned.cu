// A thread takes a channel (four of them where D is a multiple of 4) and walks over 32 positions, keeping taps and the last
// K values in registers, so that each element is read once but for the K - 1 before each piece. K is a template argument:
// the window is shifted by renaming registers.
#include <cuda_runtime.h>

constexpr int PIECE = 32;

template <int VEC>
struct Channels {
    float v[VEC];
};

template <int VEC>
__device__ Channels<VEC> load(const float* from) {
    Channels<VEC> c;
    if constexpr (VEC == 4) {
        float4 x = *reinterpret_cast<const float4*>(from);
        c.v[0] = x.x, c.v[1] = x.y, c.v[2] = x.z, c.v[3] = x.w;
    } else {
        c.v[0] = *from;
    }
    return c;
}

template <int K, int VEC>
__global__ void __launch_bounds__(128) convolve(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                                                float* __restrict__ output, int L, int D) {
    int d = (blockIdx.x * 128 + threadIdx.x) * VEC;
    if (d >= D) return;
    int first = blockIdx.y * PIECE;
    size_t base = (size_t)blockIdx.z * L * D + d;
    float taps[VEC][K];
#pragma unroll
    for (int c = 0; c < VEC; c++) {
#pragma unroll
        for (int k = 0; k < K; k++) taps[c][k] = weight[(d + c) * K + k];
    }
    Channels<VEC> summand = load<VEC>(bias + d);
    Channels<VEC> window[K];  // window[k] is the value k positions back
#pragma unroll
    for (int k = 1; k < K; k++) {
        // Shifted by one when the walk begins.
        if (first - k >= 0) {
            window[k - 1] = load<VEC>(x + base + (size_t)(first - k) * D);
        } else {
#pragma unroll
            for (int c = 0; c < VEC; c++) window[k - 1].v[c] = 0.0f;
        }
    }
    int end = min(L, first + PIECE);
#pragma unroll 4
    for (int l = first; l < end; l++) {
#pragma unroll
        for (int k = K - 1; k > 0; k--) window[k] = window[k - 1];
        window[0] = load<VEC>(x + base + (size_t)l * D);
        Channels<VEC> sum = summand;
#pragma unroll
        for (int k = 0; k < K; k++) {
#pragma unroll
            for (int c = 0; c < VEC; c++) sum.v[c] = fmaf(taps[c][k], window[k].v[c], sum.v[c]);
        }
        float* to = output + base + (size_t)l * D;
        if constexpr (VEC == 4) {
            __stcs(reinterpret_cast<float4*>(to), make_float4(sum.v[0], sum.v[1], sum.v[2], sum.v[3]));
        } else {
            *to = sum.v[0];
        }
    }
}

template <int K>
static void launch(const float* x, const float* weight, const float* bias, float* output, int B, int L, int D) {
    dim3 grid(1, (L + PIECE - 1) / PIECE, B);
    if (D % 4 == 0) {
        grid.x = (D / 4 + 127) / 128;
        convolve<K, 4><<<grid, 128>>>(x, weight, bias, output, L, D);
    } else {
        grid.x = (D + 127) / 128;
        convolve<K, 1><<<grid, 128>>>(x, weight, bias, output, L, D);
    }
}

extern "C" void solve(const float* x, const float* weight, const float* bias, float* output, int B, int L, int D, int K) {
    switch (K) {
        case 1: launch<1>(x, weight, bias, output, B, L, D); break;
        case 2: launch<2>(x, weight, bias, output, B, L, D); break;
        case 3: launch<3>(x, weight, bias, output, B, L, D); break;
        case 4: launch<4>(x, weight, bias, output, B, L, D); break;
        case 5: launch<5>(x, weight, bias, output, B, L, D); break;
        case 6: launch<6>(x, weight, bias, output, B, L, D); break;
        case 7: launch<7>(x, weight, bias, output, B, L, D); break;
        default: launch<8>(x, weight, bias, output, B, L, D); break;
    }
}
