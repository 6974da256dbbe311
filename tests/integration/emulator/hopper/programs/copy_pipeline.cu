// Rows pass through a ring of stages in shared memory: one warp copies by a tensor map, the others scale, and a bulk copy stores.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int columns = 64, rows_of_tile = 16, stages = 3, workers = 128;

__device__ uint32_t address_of(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void wait(uint64_t *mbarrier, uint32_t parity) {
    asm volatile(
        "{ .reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again; }" ::"r"(address_of(mbarrier)), "r"(parity) : "memory");
}

__device__ void arrive(uint64_t *mbarrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(mbarrier)) : "memory");
}

__global__ void scale(const __grid_constant__ CUtensorMap from, float *to, int tiles, float factor) {
    __shared__ alignas(128) float tile[stages][rows_of_tile * columns];
    __shared__ alignas(128) float result[rows_of_tile * columns];
    __shared__ uint64_t full[stages], empty[stages];
    if (threadIdx.x == 0) {
        for (int s = 0; s < stages; ++s) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(&full[s])));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(&empty[s])), "r"(workers));
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x >= workers) {
        if (threadIdx.x != workers) return;
        for (int t = blockIdx.x, n = 0; t < tiles; t += gridDim.x, ++n) {
            int s = n % stages;
#ifndef NO_EMPTY_WAIT
            if (n >= stages) wait(&empty[s], (n / stages - 1) & 1);
#endif
            int bytes = rows_of_tile * columns * 4;
#ifdef TOO_FEW_BYTES
            bytes += 16;
#endif
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(&full[s])), "r"(bytes) : "memory");
            asm volatile(
                "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                    address_of(tile[s])),
                "l"(&from), "r"(0), "r"(t * rows_of_tile), "r"(address_of(&full[s])) : "memory");
        }
        return;
    }
    for (int t = blockIdx.x, n = 0; t < tiles; t += gridDim.x, ++n) {
        int s = n % stages;
#ifndef NO_FULL_WAIT
        wait(&full[s], n / stages & 1);
#endif
        for (int i = threadIdx.x; i < rows_of_tile * columns; i += workers) result[i] = factor * tile[s][i];
        arrive(&empty[s]);
#ifndef NO_PROXY_FENCE
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
        asm volatile("bar.sync 1, %0;" ::"n"(workers) : "memory");
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to + t * rows_of_tile * columns),
                         "r"(address_of(result)), "r"(rows_of_tile * columns * 4) : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        }
        asm volatile("bar.sync 1, %0;" ::"n"(workers) : "memory");
    }
}

using Encode = decltype(&cuTensorMapEncodeTiled);

int main() {
    constexpr int rows = 250, tiles = (rows + rows_of_tile - 1) / rows_of_tile;
    std::vector<float> in(rows * columns), out(tiles * rows_of_tile * columns);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 1009);
    float *in_d, *out_d;
    cudaMalloc(&in_d, in.size() * 4);
    cudaMalloc(&out_d, out.size() * 4);
    cudaMemcpy(in_d, in.data(), in.size() * 4, cudaMemcpyHostToDevice);
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
    CUtensorMap map;
    cuuint64_t size[] = {columns, rows}, stride[] = {columns * 4};
    cuuint32_t box[] = {columns, rows_of_tile}, step[] = {1, 1};
    CUresult made = reinterpret_cast<Encode>(function)(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, in_d, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (made != CUDA_SUCCESS) {
        std::printf("FAIL: no tensor map (%d)\n", made);
        return 1;
    }
    scale<<<3, workers + 32>>>(map, out_d, tiles, 3.0f);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::printf("FAIL: %s\n", cudaGetErrorName(error));
        return 1;
    }
    cudaMemcpy(out.data(), out_d, out.size() * 4, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < out.size(); ++i) {
        float right = i < in.size() ? 3 * in[i] : 0;  // rows behind the last are filled with zeros
        if (out[i] != right) {
            std::printf("FAIL: element %zu is %f, not %f\n", i, out[i], right);
            return 1;
        }
    }
    cudaFree(in_d);
    cudaFree(out_d);
    std::printf("PASS\n");
}
