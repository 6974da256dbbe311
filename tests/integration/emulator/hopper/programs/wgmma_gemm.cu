// A product of half-precision matrices, a 64 by 64 tile for each warpgroup: tensor-map copies with 128-byte swizzling, wgmma, two stages.
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int tile = 64, stages = 2;

__device__ uint32_t address_of(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void wait(uint64_t *mbarrier, uint32_t parity) {
    asm volatile(
        "{ .reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again; }" ::"r"(address_of(mbarrier)), "r"(parity) : "memory");
}

__device__ void load(const CUtensorMap *map, half *to, uint64_t *mbarrier, int x, int y) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(address_of(to)),
        "l"(map), "r"(x), "r"(y), "r"(address_of(mbarrier)) : "memory");
}

// 128-byte swizzling: groups of eight rows are 1024 bytes apart.
__device__ uint64_t descriptor(const half *matrix) {
    return (address_of(matrix) >> 4 & 0x3fff) | uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}

__device__ void multiply(float (&d)[32], uint64_t a, uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, "
        "%27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),
          "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]),
          "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
          "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(a), "l"(b));
}

// a: m by k; b: n by k; c: m by n, by rows.
__global__ void gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c, int n, int k) {
    __shared__ alignas(1024) half left[stages][tile * tile], right[stages][tile * tile];
    __shared__ uint64_t full[stages];
    int row = blockIdx.y * tile, column = blockIdx.x * tile;
    if (threadIdx.x == 0) {
        for (int s = 0; s < stages; ++s) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(&full[s])));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    auto fetch = [&](int step) {
        int s = step % stages;
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(&full[s])), "r"(2 * tile * tile * 2) : "memory");
        load(&a, left[s], &full[s], step * tile, row);
        load(&b, right[s], &full[s], step * tile, column);
    };
    int steps = k / tile;
    if (threadIdx.x == 0) fetch(0);
    float d[32] = {};
    for (int step = 0; step < steps; ++step) {
        int s = step % stages;
        if (threadIdx.x == 0 && step + 1 < steps) fetch(step + 1);
        wait(&full[s], step / stages & 1);
#ifdef TOUCHES
        volatile auto *word = reinterpret_cast<volatile uint32_t *>(left[s]) + threadIdx.x;
        *word = *word + 0;
#ifndef NO_PROXY_FENCE
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
        __syncthreads();
#endif
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int i = 0; i < tile / 16; ++i) multiply(d, descriptor(left[s]) + 2 * i, descriptor(right[s]) + 2 * i);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#ifndef NO_PRODUCT_WAIT
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
        __syncthreads();
    }
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = 0; i < 32; ++i) {
        int r = row + 16 * warp + lane / 4 + 8 * (i / 2 % 2), col = column + 8 * (i / 4) + lane % 4 * 2 + i % 2;
        c[r * n + col] = d[i];
    }
}

using Encode = decltype(&cuTensorMapEncodeTiled);

static CUtensorMap map_of(half *matrix, int rows, int columns) {
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
    CUtensorMap map;
    cuuint64_t size[] = {cuuint64_t(columns), cuuint64_t(rows)}, stride[] = {cuuint64_t(columns) * 2};
    cuuint32_t box[] = {tile, tile}, step[] = {1, 1};
    reinterpret_cast<Encode>(function)(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, matrix, size, stride, box, step,
                                       CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return map;
}

int main() {
    constexpr int m = 128, n = 192, k = 256;
    std::vector<half> a(m * k), b(n * k);
    std::vector<float> c(m * n);
    for (int i = 0; i < m * k; ++i) a[i] = __float2half(static_cast<float>(i * 5 % 17 - 8));
    for (int i = 0; i < n * k; ++i) b[i] = __float2half(static_cast<float>(i * 3 % 11 - 5));
    half *a_d, *b_d;
    float *c_d;
    cudaMalloc(&a_d, a.size() * 2);
    cudaMalloc(&b_d, b.size() * 2);
    cudaMalloc(&c_d, c.size() * 4);
    cudaMemcpy(a_d, a.data(), a.size() * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(b_d, b.data(), b.size() * 2, cudaMemcpyHostToDevice);
    gemm<<<dim3(n / tile, m / tile), 128>>>(map_of(a_d, m, k), map_of(b_d, n, k), c_d, n, k);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::printf("FAIL: %s\n", cudaGetErrorName(error));
        return 1;
    }
    cudaMemcpy(c.data(), c_d, c.size() * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            float right = 0;
            for (int p = 0; p < k; ++p) right += __half2float(a[i * k + p]) * __half2float(b[j * k + p]);
            if (c[i * n + j] != right) {
                std::printf("FAIL: (%d,%d) is %f, not %f\n", i, j, c[i * n + j], right);
                return 1;
            }
        }
    }
    cudaFree(a_d);
    cudaFree(b_d);
    cudaFree(c_d);
    std::printf("PASS\n");
}
