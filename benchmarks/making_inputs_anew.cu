// What code gains that has the recipe of an input and makes a share of it anew instead of reading it: the figures of
// docs/threat-model.md. Builds and runs by
//
//     nvcc -O3 -std=c++17 -arch=native -o /tmp/making_inputs_anew benchmarks/making_inputs_anew.cu && /tmp/making_inputs_anew
//
// Vector addition of 50 million elements with three kernels: one whose threads take two times four elements, far apart;
// one whose threads take eight side by side and load half of them after they stored the others; and the same with all
// loads first. Of every n-th block, the elements of one summand are read ("read"), made from key and pool as the judge
// makes them ("made"), read after the same work ("worked"), or read from the pool and not made ("pool"): then as many
// bytes are read, and elsewhere. What making gains over reading is told by "made" against "worked", in which the loads
// have the same order. All variants take turns, each after a sweep of the L2. Prints medians in microseconds, with the
// quarters of the samples around them.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../tests/adversarial/kernels/common/recipe.cuh"

namespace {

constexpr int N = 50'000'000;
constexpr size_t SWEPT_BYTES = 512ul << 20;
constexpr int ROUNDS = 60;

enum class How { READ, MADE, WORKED, POOL };
constexpr const char* NAMES[] = {"read", "made", "worked", "pool"};

void check(cudaError_t code) {
    if (code == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(code));
    exit(1);
}

__global__ void sweep(uint4* buffer, size_t count) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) buffer[i].x++;
}

__device__ float4 add4(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// Four elements: those with the index 4 * quad and behind it.
template <How HOW>
__device__ float4 summand(const float* B, const MadeFrom& from, int quad) {
    if constexpr (HOW == How::MADE || HOW == How::WORKED) {
        float made[8];
        if (HOW == How::MADE) make_eight(quad / 2, from, made);
        else read_eight(B, quad / 2, from, made);
        return quad % 2 ? make_float4(made[4], made[5], made[6], made[7]) : make_float4(made[0], made[1], made[2], made[3]);
    } else {
        return __ldcs(reinterpret_cast<const float4*>(HOW == How::POOL ? reinterpret_cast<const float*>(from.pool) : B) + quad);
    }
}

// As the fastest of the reference solutions: two times four elements a thread, 512 threads apart.
template <How HOW>
__global__ void __launch_bounds__(512) apart(const float* A, const float* B, float* C, MadeFrom from, int every) {
    const int first = blockIdx.x * 1024 + threadIdx.x;
    const bool other = blockIdx.x % every == 0;
    float4 a[2], b[2];
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const int quad = first + 512 * j;
        if (quad >= N / 4) continue;
        a[j] = __ldcs(reinterpret_cast<const float4*>(A) + quad);
        b[j] = other ? summand<HOW>(B, from, quad) : summand<How::READ>(B, from, quad);
    }
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const int quad = first + 512 * j;
        if (quad < N / 4) __stcs(reinterpret_cast<float4*>(C) + quad, add4(a[j], b[j]));
    }
}

// Eight elements a thread, side by side: a block of the generator's stream.
template <How HOW>
__device__ void summands(const float* B, const MadeFrom& from, int block, bool other, float4 (&b)[2]) {
    if (HOW == How::MADE && other) {
        make_eight(block, from, reinterpret_cast<float(&)[8]>(b));
    } else if (HOW == How::WORKED && other) {
        read_eight(B, block, from, reinterpret_cast<float(&)[8]>(b));
    } else {
        const float* from_where = HOW == How::POOL && other ? reinterpret_cast<const float*>(from.pool) : B;
        for (int j = 0; j < 2; j++) b[j] = reinterpret_cast<const float4*>(from_where)[2 * block + j];
    }
}
template <How HOW>
__global__ void __launch_bounds__(256) first(const float* A, const float* B, float* C, MadeFrom from, int every) {
    const int block = blockIdx.x * 256 + threadIdx.x;
    if (block >= N / 8) return;
    float4 a[2], b[2];
    for (int j = 0; j < 2; j++) a[j] = reinterpret_cast<const float4*>(A)[2 * block + j];
    summands<HOW>(B, from, block, blockIdx.x % every == 0, b);
    for (int j = 0; j < 2; j++) reinterpret_cast<float4*>(C)[2 * block + j] = add4(a[j], b[j]);
}
template <How HOW>
__global__ void __launch_bounds__(256) beside(const float* A, const float* B, float* C, MadeFrom from, int every) {
    const int block = blockIdx.x * 256 + threadIdx.x;
    if (block >= N / 8) return;
    float4 b[2];
    summands<HOW>(B, from, block, blockIdx.x % every == 0, b);
    for (int j = 0; j < 2; j++)
        reinterpret_cast<float4*>(C)[2 * block + j] = add4(reinterpret_cast<const float4*>(A)[2 * block + j], b[j]);
}

using Kernel = void (*)(const float*, const float*, float*, MadeFrom, int);

struct Variant {
    const char* kernel;
    How how;
    int every;
    Kernel launch;
    int threads, per_block;
    std::vector<float> us = {};
};

}  // namespace

int main() {
    std::vector<Variant> variants;
    const auto add = [&](How how, int every, Kernel apart, Kernel beside, Kernel first) {
        variants.push_back({"apart", how, every, apart, 512, 4096});
        variants.push_back({"beside", how, every, beside, 256, 2048});
        variants.push_back({"first", how, every, first, 256, 2048});
    };
    for (int every : {1, 2, 4, 8, 16, 32}) {
        if (every == 1) add(How::READ, 1, apart<How::READ>, beside<How::READ>, first<How::READ>);
        add(How::MADE, every, apart<How::MADE>, beside<How::MADE>, first<How::MADE>);
        add(How::WORKED, every, apart<How::WORKED>, beside<How::WORKED>, first<How::WORKED>);
        add(How::POOL, every, apart<How::POOL>, beside<How::POOL>, first<How::POOL>);
    }
    float *A, *B, *C, *pool;
    uint4* swept;
    for (float** buffer : {&A, &B, &C, &pool}) {
        check(cudaMalloc(buffer, N * sizeof(float)));
        check(cudaMemset(*buffer, 0x3f, N * sizeof(float)));
    }
    check(cudaMalloc(&swept, SWEPT_BYTES));
    check(cudaMemset(swept, 0, SWEPT_BYTES));
    const MadeFrom from = {0x1234567890abcdefull, 0xfedcba0987654321ull, reinterpret_cast<const unsigned*>(pool), -1.0f, 2.0f};
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    for (int round = -3; round < ROUNDS; round++) {
        for (Variant& each : variants) {
            sweep<<<1024, 256>>>(swept, SWEPT_BYTES / sizeof(uint4));
            check(cudaEventRecord(begin));
            each.launch<<<(N + each.per_block - 1) / each.per_block, each.threads>>>(A, B, C, from, each.every);
            check(cudaEventRecord(end));
            check(cudaEventSynchronize(end));
            float ms = 0;
            check(cudaEventElapsedTime(&ms, begin, end));
            if (round >= 0) each.us.push_back(1e3f * ms);
        }
    }
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0));
    printf("%s\nkernel  how    share    us (quarters)\n", properties.name);
    for (Variant& each : variants) {
        std::sort(each.us.begin(), each.us.end());
        const size_t count = each.us.size();
        printf("%-7s %-6s 1/%-4d %7.2f (%.2f to %.2f)\n", each.kernel, NAMES[static_cast<int>(each.how)], each.every,
               each.us[count / 2], each.us[count / 4], each.us[3 * count / 4]);
    }
    return 0;
}
