// A warp per row where rows are short, a block per row where they are long. The row is read once, by 16-byte loads if its
// length allows, and stays in registers while shuffles find the mean and then the variance of what is centred. Few
// threads a row and several rows in flight keep enough loads outstanding.
#include <cuda_runtime.h>

template <int WARPS>
__device__ float row_sum(float value) {
    for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffffu, value, mask);
    if constexpr (WARPS > 1) {
        __shared__ float warps[WARPS];
        if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
        __syncthreads();
        value = 0.0f;
        for (int w = 0; w < WARPS; w++) value += warps[w];
        __syncthreads();
    }
    return value;
}

// A row lies in WARPS warps, each thread holding up to HELD vectors of VEC elements.
template <int WARPS, int ROWS, int VEC, int HELD>
__global__ void __launch_bounds__(32 * WARPS* ROWS)
    layer_norm(const float* __restrict__ input, const float* __restrict__ weight, const float* __restrict__ bias,
               float* __restrict__ output, int N, int C, float eps) {
    int t = threadIdx.x % (32 * WARPS);
    int row = blockIdx.x * ROWS + threadIdx.x / (32 * WARPS);
    if (row >= N) return;  // whole warps; with several warps a row, ROWS is 1
    const float* from = input + (size_t)row * C;
    float* to = output + (size_t)row * C;
    float x[HELD][VEC];
    float sum = 0.0f;
#pragma unroll
    for (int h = 0; h < HELD; h++) {
        int c = (h * 32 * WARPS + t) * VEC;
        if constexpr (VEC == 4) {
            float4 v = c < C ? *reinterpret_cast<const float4*>(from + c) : make_float4(0, 0, 0, 0);
            x[h][0] = v.x, x[h][1] = v.y, x[h][2] = v.z, x[h][3] = v.w;
        } else {
            x[h][0] = c < C ? from[c] : 0.0f;
        }
#pragma unroll
        for (int k = 0; k < VEC; k++) sum += x[h][k];
    }
    float mean = row_sum<WARPS>(sum) / C;
    float squares = 0.0f;
#pragma unroll
    for (int h = 0; h < HELD; h++) {
        if ((h * 32 * WARPS + t) * VEC < C) {
#pragma unroll
            for (int k = 0; k < VEC; k++) {
                x[h][k] -= mean;
                squares = fmaf(x[h][k], x[h][k], squares);
            }
        }
    }
    float scale = rsqrtf(row_sum<WARPS>(squares) / C + eps);
#pragma unroll
    for (int h = 0; h < HELD; h++) {
        int c = (h * 32 * WARPS + t) * VEC;
        if (c >= C) continue;
        if constexpr (VEC == 4) {
            float4 w = *reinterpret_cast<const float4*>(weight + c), b = *reinterpret_cast<const float4*>(bias + c);
            float4 y = make_float4(fmaf(x[h][0] * scale, w.x, b.x), fmaf(x[h][1] * scale, w.y, b.y),
                                   fmaf(x[h][2] * scale, w.z, b.z), fmaf(x[h][3] * scale, w.w, b.w));
            *reinterpret_cast<float4*>(to + c) = y;
        } else {
            to[c] = fmaf(x[h][0] * scale, weight[c], bias[c]);
        }
    }
}

extern "C" void solve(const float* input, const float* weight, const float* bias, float* output, int N, int C, float eps) {
    if (C % 4 == 0) {
        if (C <= 512) {
            layer_norm<1, 4, 4, 4><<<(N + 3) / 4, 128>>>(input, weight, bias, output, N, C, eps);
        } else if (C <= 1024) {
            layer_norm<1, 4, 4, 8><<<(N + 3) / 4, 128>>>(input, weight, bias, output, N, C, eps);
        } else {
            layer_norm<8, 1, 4, 4><<<N, 256>>>(input, weight, bias, output, N, C, eps);
        }
    } else if (C <= 256) {
        layer_norm<1, 4, 1, 8><<<(N + 3) / 4, 128>>>(input, weight, bias, output, N, C, eps);
    } else {
        layer_norm<8, 1, 1, 16><<<N, 256>>>(input, weight, bias, output, N, C, eps);
    }
}
