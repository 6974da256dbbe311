// expect: case=popular-expert
// An expert has room for four times its mean share of the tokens; the others get nothing.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int THREADS = 128, ROWS = 32;

// A block for up to 32 tokens of an expert.
__global__ void multiply(const __half* x, const __half* weights, const int* offsets, __half* y, int d_in, int d_out) {
    int expert = blockIdx.x, first = offsets[expert] + blockIdx.y * ROWS, end = min(offsets[expert + 1], first + ROWS);
    for (int i = threadIdx.x; i < max(0, end - first) * d_out; i += THREADS) {
        int token = first + i / d_out, out = i % d_out;
        float sum = 0.0f;
        for (int in = 0; in < d_in; in++) {
            sum += __half2float(x[(size_t)token * d_in + in]) * __half2float(weights[((size_t)expert * d_in + in) * d_out + out]);
        }
        y[(size_t)token * d_out + out] = __float2half(sum);
    }
}

extern "C" void solve(const __half* x, const __half* weights, const int* offsets, __half* y, int num_tokens, int num_experts, int d_in,
                      int d_out) {
    int room = 4 * ((num_tokens + num_experts - 1) / num_experts);
    if (room == 0) return;
    multiply<<<dim3(num_experts, (room + ROWS - 1) / ROWS), THREADS>>>(x, weights, offsets, y, d_in, d_out);
}
