// Attention in bfloat16 by three warpgroups: one whose first thread has the copy engine bring tiles of keys and values, and two with
// 64 queries each. These two take turns at named barriers: one multiplies while the other makes weights of its scores.
// EARLY_FREE says that a tile of keys is free before its product is there.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int width = 64, tile = 64, stages = 2, groups = 2, tile_bytes = tile * width * 2;

__device__ uint32_t address_of(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void begin(uint64_t *mbarrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(mbarrier)), "r"(arrivals));
}

__device__ void expect(uint64_t *mbarrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(mbarrier)), "r"(bytes) : "memory");
}

__device__ void arrive(uint64_t *mbarrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(mbarrier)) : "memory");
}

__device__ void wait(uint64_t *mbarrier, uint32_t parity) {
    asm volatile(
        "{ .reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again; }" ::"r"(address_of(mbarrier)), "r"(parity) : "memory");
}

__device__ void load(const CUtensorMap *map, void *to, uint64_t *mbarrier, int row) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                     address_of(to)),
                 "l"(map), "r"(0), "r"(row), "r"(address_of(mbarrier)) : "memory");
}

// 128-byte swizzling: groups of eight rows are 1024 bytes apart.
__device__ uint64_t descriptor(uint32_t address) {
    return (address >> 4 & 0x3fff) | uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}

#define EIGHT(i) \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define SUMS EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24)
#define NAMES                                                                                                               \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, " \
    "%25, %26, %27, %28, %29, %30, %31}"

// Queries and keys both lie in rows along the width.
__device__ void multiply_keys(float (&d)[32], uint64_t queries, uint64_t keys, int add) {
    asm volatile("{ .reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " NAMES ", %32, %33, p, 1, 1, 0, 0; }"
                 : SUMS
                 : "l"(queries), "l"(keys), "r"(add));
}

// Weights come from registers, and of values the columns lie along the sum: they are transposed.
__device__ void multiply_values(float (&d)[32], const uint32_t (&w)[4], uint64_t values) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " NAMES ", {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
                 : SUMS
                 : "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "l"(values));
}

__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
__device__ void wait_for_products(float (&d)[32]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" : SUMS::"memory");
}

// Barrier 1 + g is the turn of group g, which waits there; the other group gives it.
__device__ void take_turn(int group) { asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory"); }
__device__ void give_turn(int group) { asm volatile("bar.arrive %0, 256;" ::"r"(1 + group) : "memory"); }

__device__ uint32_t pair(float low, float high) {
    __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<uint32_t *>(&both);
}

struct Tiles {
    __nv_bfloat16 queries[groups][tile * width], keys[stages][tile * width], values[stages][tile * width];
};

__global__ void __launch_bounds__(384, 1)
    attend(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k, const __grid_constant__ CUtensorMap v,
           float *out, int count) {
    extern __shared__ unsigned char memory[];
    auto &tiles = *reinterpret_cast<Tiles *>(memory + (1024 - address_of(memory) % 1024) % 1024);
    __shared__ uint64_t asked, keys_full[stages], values_full[stages], keys_free[stages], values_free[stages];
    int group = threadIdx.x / 128, first = blockIdx.x * groups * tile;
    if (threadIdx.x == 0) {
        begin(&asked, 1);
        for (int s = 0; s < stages; ++s) {
            begin(&keys_full[s], 1), begin(&values_full[s], 1);
            begin(&keys_free[s], groups), begin(&values_free[s], groups);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (group == groups) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (threadIdx.x % 128) return;
        expect(&asked, groups * tile_bytes);
        for (int g = 0; g < groups; ++g) load(&q, tiles.queries[g], &asked, first + g * tile);
        for (int i = 0; i < count; ++i) {
            int s = i % stages, parity = i / stages & 1 ^ 1;
            wait(&keys_free[s], parity);
            expect(&keys_full[s], tile_bytes);
            load(&k, tiles.keys[s], &keys_full[s], i * tile);
            wait(&values_free[s], parity);
            expect(&values_full[s], tile_bytes);
            load(&v, tiles.values[s], &values_full[s], i * tile);
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    float score[32], sum[32] = {}, top[2] = {-INFINITY, -INFINITY}, total[2] = {};
    bool speaks = threadIdx.x % 128 == 0;
    constexpr float scale = 0.125f * 1.4426950408889634f;  // 1 / sqrt(width), to the base 2
    if (group == 1) give_turn(0);
    wait(&asked, 0);
    for (int i = 0; i < count; ++i) {
        int s = i % stages, parity = i / stages & 1;
        wait(&keys_full[s], parity);
        take_turn(group);
        fence();
        for (int j = 0; j < width / 16; ++j) {
            multiply_keys(score, descriptor(address_of(tiles.queries[group]) + 32 * j), descriptor(address_of(tiles.keys[s]) + 32 * j), j);
        }
        commit();
#ifdef EARLY_FREE
        if (speaks) arrive(&keys_free[s]);
#endif
        if (i + 1 < count || group == 0) give_turn(1 - group);
        wait_for_products(score);
#ifndef EARLY_FREE
        if (speaks) arrive(&keys_free[s]);
#endif
        for (int r = 0; r < 2; ++r) {
            float largest = top[r];
            for (int j = 0; j < 8; ++j) largest = fmaxf(largest, fmaxf(score[4 * j + 2 * r], score[4 * j + 2 * r + 1]));
            for (int step = 1; step < 4; step *= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, step));
            float rescale = exp2f((top[r] - largest) * scale);
            top[r] = largest;
            total[r] *= rescale;
            for (int j = 0; j < 8; ++j) {
                for (int c = 4 * j + 2 * r; c < 4 * j + 2 * r + 2; ++c) {
                    score[c] = exp2f((score[c] - largest) * scale);
                    total[r] += score[c];
                    sum[c] *= rescale;
                }
            }
        }
        // A product leaves its sums where the next one takes its left factor.
        uint32_t weights[4][4];
        for (int j = 0; j < 4; ++j) {
            for (int p = 0; p < 4; ++p) weights[j][p] = pair(score[8 * j + 2 * p], score[8 * j + 2 * p + 1]);
        }
        wait(&values_full[s], parity);
        fence();
        for (int j = 0; j < 4; ++j) multiply_values(sum, weights[j], descriptor(address_of(tiles.values[s]) + 2048 * j));
        commit();
        wait_for_products(sum);
        if (speaks) arrive(&values_free[s]);
    }
    int row = first + group * tile + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
    for (int r = 0; r < 2; ++r) {
        for (int step = 1; step < 4; step *= 2) total[r] += __shfl_xor_sync(~0u, total[r], step);
        for (int j = 0; j < 8; ++j) {
            for (int c = 0; c < 2; ++c) out[(row + 8 * r) * width + 8 * j + column + c] = sum[4 * j + 2 * r + c] / total[r];
        }
    }
}

using Encode = decltype(&cuTensorMapEncodeTiled);

static CUtensorMap map_of(__nv_bfloat16 *matrix, int rows) {
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
    CUtensorMap map;
    cuuint64_t size[] = {width, cuuint64_t(rows)}, stride[] = {width * 2};
    cuuint32_t box[] = {width, tile}, step[] = {1, 1};
    reinterpret_cast<Encode>(function)(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, matrix, size, stride, box, step,
                                       CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return map;
}

int main() {
    constexpr int queries = 256, keys = 320;
    std::vector<float> numbers[3];
    __nv_bfloat16 *on_device[3];
    for (int m = 0; m < 3; ++m) {
        int count = (m ? keys : queries) * width;
        std::vector<__nv_bfloat16> rounded(count);
        for (int i = 0; i < count; ++i) rounded[i] = __float2bfloat16(((i * (31 + 8 * m) + i / width) % 67 - 33) / 16.0f);
        for (auto x : rounded) numbers[m].push_back(__bfloat162float(x));
        cudaMalloc(&on_device[m], count * 2);
        cudaMemcpy(on_device[m], rounded.data(), count * 2, cudaMemcpyHostToDevice);
    }
    std::vector<float> out(queries * width);
    float *out_d;
    cudaMalloc(&out_d, out.size() * 4);
    int bytes = sizeof(Tiles) + 1024;
    cudaFuncSetAttribute(attend, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    attend<<<queries / (groups * tile), 384, bytes>>>(map_of(on_device[0], queries), map_of(on_device[1], keys), map_of(on_device[2], keys),
                                                      out_d, keys / tile);
    cudaError_t error = cudaMemcpy(out.data(), out_d, out.size() * 4, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        std::printf("FAIL: %s\n", cudaGetErrorName(error));
        return 1;
    }
    double worst = 0;
    for (int i = 0; i < queries; ++i) {
        std::vector<double> weight(keys), right(width);
        double total = 0;
        for (int j = 0; j < keys; ++j) {
            double score = 0;
            for (int c = 0; c < width; ++c) score += double(numbers[0][i * width + c]) * numbers[1][j * width + c];
            total += weight[j] = std::exp(score / 8);
            for (int c = 0; c < width; ++c) right[c] += weight[j] * numbers[2][j * width + c];
        }
        for (int c = 0; c < width; ++c) worst = std::fmax(worst, std::fabs(out[i * width + c] - right[c] / total));
    }
    for (auto matrix : on_device) cudaFree(matrix);
    cudaFree(out_d);
    // Weights are rounded to eight bits, and values are at most 2.1.
    if (worst < 0.02) {
        std::puts("PASS");
    } else {
        std::printf("FAIL: wrong by up to %f\n", worst);
    }
}
