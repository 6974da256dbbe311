// Memory pools. Memory comes and goes at once, whatever pool it is asked of: a pool only keeps its attributes.

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <mutex>

#include "errors.h"
#include "memory.h"

namespace {

struct Pool {
    std::map<int, uint64_t> attributes;
};

std::mutex mutex;
std::map<cudaMemPool_t, std::unique_ptr<Pool>> pools;

cudaMemPool_t create() {
    auto pool = std::make_unique<Pool>();
    for (int flag : {cudaMemPoolReuseFollowEventDependencies, cudaMemPoolReuseAllowOpportunistic,
                     cudaMemPoolReuseAllowInternalDependencies}) {
        pool->attributes[flag] = 1;
    }
    pool->attributes[cudaMemPoolAttrReleaseThreshold] = 0;
    auto handle = reinterpret_cast<cudaMemPool_t>(pool.get());
    pools[handle] = std::move(pool);
    return handle;
}

cudaMemPool_t default_pool() {
    static cudaMemPool_t handle = create();
    return handle;
}

cudaError_t give_default(cudaMemPool_t *out) {
    EMU_REQUIRE_DEVICE();
    if (!out) return emu::fail(cudaErrorInvalidValue);
    std::lock_guard lock(mutex);
    *out = default_pool();
    return cudaSuccess;
}

bool is_flag(cudaMemPoolAttr which) { return which <= cudaMemPoolReuseAllowInternalDependencies; }

}  // namespace

EMU_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int device) {
    return device ? emu::fail(cudaErrorInvalidDevice) : give_default(out);
}

EMU_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *out, int device) {
    return device ? emu::fail(cudaErrorInvalidDevice) : give_default(out);
}

EMU_API cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *out, cudaMemLocation *, cudaMemAllocationType) {
    return give_default(out);
}

EMU_API cudaError_t cudaMemGetMemPool(cudaMemPool_t *out, cudaMemLocation *, cudaMemAllocationType) {
    return give_default(out);
}

EMU_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    std::lock_guard lock(mutex);
    if (device) return emu::fail(cudaErrorInvalidDevice);
    return pools.count(pool) ? cudaSuccess : emu::fail(cudaErrorInvalidValue);
}

EMU_API cudaError_t cudaMemPoolCreate(cudaMemPool_t *out, const cudaMemPoolProps *props) {
    EMU_REQUIRE_DEVICE();
    if (!out || !props) return emu::fail(cudaErrorInvalidValue);
    std::lock_guard lock(mutex);
    *out = create();
    return cudaSuccess;
}

EMU_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    std::lock_guard lock(mutex);
    if (pool == default_pool() || !pools.erase(pool)) return emu::fail(cudaErrorInvalidValue);
    return cudaSuccess;
}

EMU_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
    std::lock_guard lock(mutex);
    return pools.count(pool) ? cudaSuccess : emu::fail(cudaErrorInvalidValue);
}

EMU_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void *value) {
    std::lock_guard lock(mutex);
    auto found = pools.find(pool);
    if (found == pools.end() || !value) return emu::fail(cudaErrorInvalidValue);
    found->second->attributes[which] = is_flag(which) ? static_cast<uint64_t>(*static_cast<int *>(value))
                                                      : *static_cast<uint64_t *>(value);
    return cudaSuccess;
}

EMU_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void *value) {
    std::lock_guard lock(mutex);
    auto found = pools.find(pool);
    if (found == pools.end() || !value) return emu::fail(cudaErrorInvalidValue);
    uint64_t answer = found->second->attributes[which];
    bool of_memory = which >= cudaMemPoolAttrReservedMemCurrent && which <= cudaMemPoolAttrUsedMemHigh;
    if (of_memory) answer = emu::memory().in_use();
    if (is_flag(which)) {
        *static_cast<int *>(value) = static_cast<int>(answer);
    } else {
        *static_cast<uint64_t *>(value) = answer;
    }
    return cudaSuccess;
}

EMU_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *, size_t) {
    std::lock_guard lock(mutex);
    return pools.count(pool) ? cudaSuccess : emu::fail(cudaErrorInvalidValue);
}

EMU_API cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *flags, cudaMemPool_t pool, cudaMemLocation *) {
    std::lock_guard lock(mutex);
    if (!flags || !pools.count(pool)) return emu::fail(cudaErrorInvalidValue);
    *flags = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
}
