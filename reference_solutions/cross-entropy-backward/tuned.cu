// A block per row. Where a row fits into shared memory, it is read from memory once: it is kept there while a running maximum and sum
// are found, and the gradient is made from it. 16-byte loads and stores where rows are aligned.
#include <cuda_runtime.h>
#include <math.h>

constexpr int THREADS = 512;
constexpr float LOG2_E = 1.4426950408889634f;

template <bool KEPT, int VEC>
__global__ void __launch_bounds__(THREADS) differentiate(const float* __restrict__ logits, const int* __restrict__ labels,
                                                         float* __restrict__ losses, float* __restrict__ dlogits, int N, int C) {
    extern __shared__ __align__(16) float row[];
    __shared__ float2 of_warp[THREADS / 32];
    size_t first = (size_t)blockIdx.x * C;
    int t = threadIdx.x, right = labels[blockIdx.x];
    float largest = -INFINITY, total = 0.0f;
    auto take = [&](float x) {
        float higher = fmaxf(largest, x);
        total = fmaf(total, exp2f((largest - higher) * LOG2_E), exp2f((x - higher) * LOG2_E));
        largest = higher;
    };
    for (int c = VEC * t; c < C; c += VEC * THREADS) {
        if constexpr (VEC == 4) {
            float4 x = __ldcs(reinterpret_cast<const float4*>(&logits[first + c]));
            if (KEPT) *reinterpret_cast<float4*>(&row[c]) = x;
            float higher = fmaxf(fmaxf(largest, fmaxf(x.x, x.y)), fmaxf(x.z, x.w));
            total *= exp2f((largest - higher) * LOG2_E);
            largest = higher;
            total += exp2f((x.x - largest) * LOG2_E) + exp2f((x.y - largest) * LOG2_E);
            total += exp2f((x.z - largest) * LOG2_E) + exp2f((x.w - largest) * LOG2_E);
        } else {
            float x = logits[first + c];
            if (KEPT) row[c] = x;
            take(x);
        }
    }
    auto merge = [&](float top, float sum) {
        float higher = fmaxf(largest, top);
        // Threads that had nothing have a maximum of minus infinity.
        float ours = largest == -INFINITY ? 0.0f : total * exp2f((largest - higher) * LOG2_E);
        float theirs = top == -INFINITY ? 0.0f : sum * exp2f((top - higher) * LOG2_E);
        total = ours + theirs;
        largest = higher;
    };
    for (int mask = 16; mask > 0; mask /= 2) {
        float top = __shfl_xor_sync(0xffffffffu, largest, mask), sum = __shfl_xor_sync(0xffffffffu, total, mask);
        merge(top, sum);
    }
    if (t % 32 == 0) of_warp[t / 32] = make_float2(largest, total);
    __syncthreads();
    largest = of_warp[0].x;
    total = of_warp[0].y;
    for (int w = 1; w < THREADS / 32; w++) merge(of_warp[w].x, of_warp[w].y);
    float share = 1.0f / N, factor = share / total;
    for (int c = VEC * t; c < C; c += VEC * THREADS) {
        if constexpr (VEC == 4) {
            float4 x = *reinterpret_cast<const float4*>(KEPT ? &row[c] : &logits[first + c]);
            x.x = exp2f((x.x - largest) * LOG2_E) * factor - (c == right ? share : 0.0f);
            x.y = exp2f((x.y - largest) * LOG2_E) * factor - (c + 1 == right ? share : 0.0f);
            x.z = exp2f((x.z - largest) * LOG2_E) * factor - (c + 2 == right ? share : 0.0f);
            x.w = exp2f((x.w - largest) * LOG2_E) * factor - (c + 3 == right ? share : 0.0f);
            __stcs(reinterpret_cast<float4*>(&dlogits[first + c]), x);
        } else {
            float x = KEPT ? row[c] : logits[first + c];
            dlogits[first + c] = exp2f((x - largest) * LOG2_E) * factor - (c == right ? share : 0.0f);
        }
    }
    if (t == 0) losses[blockIdx.x] = logf(total) + (largest - logits[first + right]);
}

extern "C" void solve(const float* logits, const int* labels, float* losses, float* dlogits, int N, int C) {
    int bytes = 4 * C;
    bool kept = bytes <= 200 * 1024;
    auto kernel = C % 4 == 0 ? (kept ? differentiate<true, 4> : differentiate<false, 4>) : (kept ? differentiate<true, 1> : differentiate<false, 1>);
    if (kept && bytes > 48 * 1024) cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    kernel<<<N, THREADS, kept ? bytes : 0>>>(logits, labels, losses, dlogits, N, C);
}
