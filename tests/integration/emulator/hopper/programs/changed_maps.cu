// Each block copies tiles of several tensors by one map in global memory, which it changes each time, or the host put there.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int columns = 32, rows = 8, rounds = 3, blocks = 2, threads = 64;

__device__ uint32_t address_of(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void release() { asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory"); }

__device__ void acquire(const CUtensorMap *map) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

// The first warp makes `map` one of `tensor`.
__device__ void change(CUtensorMap *map, const CUtensorMap *of, const float *tensor) {
    int lane = threadIdx.x;
#if defined(BY_STORES)
    // `of` is of the next tensor already.
    reinterpret_cast<uint32_t *>(map)[lane] = reinterpret_cast<const uint32_t *>(of)[lane];  // stores
    __syncwarp();
#elif defined(IN_SHARED)
    __shared__ alignas(128) CUtensorMap own;
    reinterpret_cast<uint32_t *>(&own)[lane] = reinterpret_cast<const uint32_t *>(of)[lane];
    __syncwarp();
    if (lane == 0)
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(address_of(&own)), "l"(tensor) : "memory");
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(map), "r"(address_of(&own)) : "memory");  // copies the map
#else
    if (lane == 0)
        asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(map), "l"(tensor) : "memory");  // replaces
#endif
#if !defined(IN_SHARED) && !defined(NO_RELEASE)
    if (lane == 0) release();
#endif
    __syncwarp();
}

__global__ void copy(CUtensorMap *maps, const CUtensorMap *others, const float *tensors, float *out) {
    __shared__ alignas(128) float tile[rows * columns];
    __shared__ uint64_t full;
    CUtensorMap *map = maps + blockIdx.x;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(&full)) : "memory");
    __syncthreads();
    for (int round = 0; round < rounds; ++round) {
        int number = blockIdx.x * rounds + round;
#ifndef BY_HOST
        if (threadIdx.x < 32) change(map, others + number, tensors + number * rows * columns);
        __syncthreads();
#ifdef ACQUIRED_ONCE
        if (round == 0)
#endif
#ifndef NO_ACQUIRE
        if (threadIdx.x == 32) acquire(map);
#endif
#endif
        if (threadIdx.x == 32) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(&full)), "r"(rows * columns * 4) : "memory");
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(address_of(tile)), "l"(map), "r"(0), "r"(0), "r"(address_of(&full)) : "memory");  // copies a tile
        }
        asm volatile(
            "{ .reg .pred done;\n"
            "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
            "@!done bra again; }" ::"r"(address_of(&full)), "r"(round & 1) : "memory");
        for (int i = threadIdx.x; i < rows * columns; i += threads) out[number * rows * columns + i] = tile[i];
        __syncthreads();
    }
}

using Encode = decltype(&cuTensorMapEncodeTiled);

int main() {
    constexpr int each = rows * columns, count = blocks * rounds;
    std::vector<float> in(count * each), out(in.size());
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 1009);
    float *in_d, *out_d;
    cudaMalloc(&in_d, in.size() * 4);
    cudaMalloc(&out_d, out.size() * 4);
    cudaMemcpy(in_d, in.data(), in.size() * 4, cudaMemcpyHostToDevice);
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
    std::vector<CUtensorMap> maps(count);
    for (int n = 0; n < count; ++n) {
        cuuint64_t size[] = {columns, rows}, stride[] = {columns * 4};
        cuuint32_t box[] = {columns, rows}, step[] = {1, 1};
        CUresult made = reinterpret_cast<Encode>(function)(
            &maps[n], CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, in_d + n * each, size, stride, box, step,
            CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        if (made != CUDA_SUCCESS) return std::printf("FAIL: no tensor map (%d)\n", made), 1;
    }
    CUtensorMap *maps_d, *others_d;
    cudaMalloc(&maps_d, sizeof(CUtensorMap) * blocks);
    cudaMalloc(&others_d, sizeof(CUtensorMap) * count);
    cudaMemcpy(maps_d, maps.data(), sizeof(CUtensorMap) * blocks, cudaMemcpyHostToDevice);
    cudaMemcpy(others_d, maps.data(), sizeof(CUtensorMap) * count, cudaMemcpyHostToDevice);
    copy<<<blocks, threads>>>(maps_d, others_d, in_d, out_d);
    if (cudaError_t error = cudaDeviceSynchronize()) return std::printf("FAIL: %s\n", cudaGetErrorName(error)), 1;
    cudaMemcpy(out.data(), out_d, out.size() * 4, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < out.size(); ++i) {
#ifdef BY_HOST
        float right = in[i / (rounds * each) * each + i % each];  // the map of its block, each time
#else
        float right = in[i];
#endif
        if (out[i] != right) return std::printf("FAIL: element %zu is %f, not %f\n", i, out[i], right), 1;
    }
    cudaFree(in_d);
    cudaFree(out_d);
    cudaFree(maps_d);
    cudaFree(others_d);
    std::printf("PASS\n");
}
