// Attributes of kernels, and occupancy.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "api/device_model.h"
#include "api/errors.h"
#include "api/modules.h"
#include "checks/call_errors.h"
#include "report/symbol_names.h"

using emu::Function;
namespace model = emu::device_model;

namespace {

cudaError_t find(const void *handle, Function **out) {
    EMU_REQUIRE_DEVICE();
    Function *function = emu::find_function(handle);
    if (!function) return emu::fail(handle ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction);
    if (cudaError_t error = emu::describe(*function)) return emu::fail(error);
    *out = function;
    return cudaSuccess;
}

}  // namespace

EMU_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *out, const void *handle) {
    if (!out) return emu::fail(cudaErrorInvalidValue);
    Function *function = nullptr;
    if (cudaError_t error = find(handle, &function)) return error;
    std::memset(out, 0, sizeof *out);
    out->sharedSizeBytes = function->info.static_shared_bytes;
    out->constSizeBytes = function->info.constant_bytes;
    out->localSizeBytes = function->info.local_bytes;
    uint32_t registers = emu::count_registers(*function, false);
    out->maxThreadsPerBlock = std::min(static_cast<int>(function->info.max_threads), model::max_threads(registers));
    out->numRegs = registers ? static_cast<int>(registers) : model::assumed_registers;
    out->ptxVersion = model::ptx_version;
    out->binaryVersion = model::ptx_version;
    int usual = static_cast<int>(model::shared_per_block - function->info.static_shared_bytes);
    out->maxDynamicSharedSizeBytes = function->max_dynamic_shared < 0 ? usual : function->max_dynamic_shared;
    out->preferredShmemCarveout = function->shared_carveout;
    return cudaSuccess;
}

EMU_API cudaError_t cudaFuncSetAttribute(const void *handle, cudaFuncAttribute which, int value) {
    Function *function = nullptr;
    if (cudaError_t error = find(handle, &function)) return error;
    switch (which) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize: {
        int most = static_cast<int>(model::size().shared_per_block_opt_in() - function->info.static_shared_bytes);
        if (value < 0 || value > most) {
            emu::explain("", emu::readable_name(function->name.c_str()) + " was to be allowed " +
                                 std::to_string(value) + " bytes of dynamic shared memory: at most " +
                                 std::to_string(most) + " beside its " +
                                 std::to_string(function->info.static_shared_bytes) + " of static");
            return emu::fail(cudaErrorInvalidValue);
        }
        function->max_dynamic_shared = value;
        return cudaSuccess;
    }
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100) return emu::fail(cudaErrorInvalidValue);
        function->shared_carveout = value;
        return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
        function->allows_large_clusters = value != 0;
        return cudaSuccess;
    default: return emu::fail(cudaErrorInvalidValue);
    }
}

EMU_API cudaError_t cudaFuncSetCacheConfig(const void *handle, cudaFuncCache) {
    Function *function = nullptr;
    return find(handle, &function);
}

EMU_API cudaError_t cudaFuncSetSharedMemConfig(const void *handle, cudaSharedMemConfig) {
    Function *function = nullptr;
    return find(handle, &function);
}

EMU_API cudaError_t cudaFuncGetName(const char **name, const void *handle) {
    Function *function = nullptr;
    if (!name) return emu::fail(cudaErrorInvalidValue);
    if (cudaError_t error = find(handle, &function)) return error;
    *name = function->name.c_str();
    return cudaSuccess;
}

EMU_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *handle, int threads,
                                                                           size_t dynamic_shared, unsigned) {
    if (!blocks) return emu::fail(cudaErrorInvalidValue);
    Function *function = nullptr;
    if (cudaError_t error = find(handle, &function)) return error;
    if (threads < 1) return emu::fail(cudaErrorInvalidValue);
    size_t shared = function->info.static_shared_bytes + dynamic_shared;
    *blocks = model::resident_blocks(threads, shared, emu::count_registers(*function, false));
    return cudaSuccess;
}

EMU_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *handle, int threads,
                                                                  size_t dynamic_shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, handle, threads, dynamic_shared, 0);
}

EMU_API cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *handle,
                                                   const cudaLaunchConfig_t *config) {
    if (!clusters || !config) return emu::fail(cudaErrorInvalidValue);
    Function *function = nullptr;
    if (cudaError_t error = find(handle, &function)) return error;
    uint32_t blocks = 1;
    for (uint32_t axis : function->info.cluster) blocks *= axis ? axis : 1;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
        if (config->attrs[i].id != cudaLaunchAttributeClusterDimension) continue;
        const auto &shape = config->attrs[i].val.clusterDim;
        blocks = shape.x * shape.y * shape.z;
    }
    if (!blocks) return emu::fail(cudaErrorInvalidValue);
    int threads = static_cast<int>(config->blockDim.x * config->blockDim.y * config->blockDim.z);
    size_t shared = function->info.static_shared_bytes + config->dynamicSmemBytes;
    int resident = model::resident_blocks(threads, shared, emu::count_registers(*function, false));
    *clusters = model::size().multiprocessors * resident / static_cast<int>(blocks);
    return cudaSuccess;
}

EMU_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *handle, const cudaLaunchConfig_t *) {
    if (!size) return emu::fail(cudaErrorInvalidValue);
    Function *function = nullptr;
    if (cudaError_t error = find(handle, &function)) return error;
    *size = function->allows_large_clusters ? 16 : model::portable_cluster_blocks;
    return cudaSuccess;
}

EMU_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *handle, int blocks,
                                                              int threads) {
    if (!bytes || blocks < 1 || threads < 1) return emu::fail(cudaErrorInvalidValue);
    Function *function = nullptr;
    if (cudaError_t error = find(handle, &function)) return error;
    size_t share = model::size().shared_per_multiprocessor / static_cast<size_t>(blocks);
    size_t taken = model::size().shared_reserved_per_block + function->info.static_shared_bytes;
    *bytes = share > taken ? std::min(share - taken, model::size().shared_per_block_opt_in()) : 0;
    return cudaSuccess;
}
