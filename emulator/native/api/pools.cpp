// Memory pools. Memory comes and goes at once, whatever pool it is asked of: a pool keeps its attributes, and counts.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "api/context.h"
#include "api/errors.h"
#include "api/pools.h"
#include "exec/arena.h"

namespace {

struct Pool {
    std::map<int, uint64_t> attributes = {
        {cudaMemPoolReuseFollowEventDependencies, 1},
        {cudaMemPoolReuseAllowOpportunistic, 1},
        {cudaMemPoolReuseAllowInternalDependencies, 1},
        {cudaMemPoolAttrReleaseThreshold, 0},
    };
    uint64_t used_bytes = 0, max_used_bytes = 0;
    std::shared_ptr<emu::BackingFile> file;  // null: processes cannot share it
    bool is_imported = false;
};

std::mutex pools_mutex;
std::map<cudaMemPool_t, std::unique_ptr<Pool>> pools;
cudaMemPool_t chosen = nullptr;  // by cudaDeviceSetMemPool

struct Share {
    cudaMemPool_t pool;
    uint64_t size;
};
std::map<uint64_t, Share> shares;  // by address

cudaMemPool_t create() {
    auto pool = std::make_unique<Pool>();
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
    std::lock_guard lock(pools_mutex);
    *out = default_pool();
    return cudaSuccess;
}

bool is_flag(cudaMemPoolAttr which) { return which <= cudaMemPoolReuseAllowInternalDependencies; }

bool is_high(cudaMemPoolAttr which) {
    return which == cudaMemPoolAttrReservedMemHigh || which == cudaMemPoolAttrUsedMemHigh;
}

bool is_attribute(cudaMemPoolAttr which) {
    return which >= cudaMemPoolReuseFollowEventDependencies && which <= cudaMemPoolAttrUsedMemHigh;
}

}  // namespace

bool emu::is_pool(cudaMemPool_t pool) {
    std::lock_guard lock(pools_mutex);
    return pools.count(pool);
}

cudaMemPool_t emu::current_pool() {
    std::lock_guard lock(pools_mutex);
    return chosen ? chosen : default_pool();
}

cudaMemPool_t emu::graph_pool() {
    static cudaMemPool_t handle = nullptr;
    std::lock_guard lock(pools_mutex);
    if (!pools.count(handle)) handle = create();  // the first, or forgotten
    return handle;
}

void emu::forget_pools() {
    std::lock_guard lock(pools_mutex);
    shares.clear();
    cudaMemPool_t kept = default_pool();
    std::erase_if(pools, [kept](const auto &it) { return it.first != kept; });
    *pools[kept] = {};
    chosen = nullptr;
}

std::shared_ptr<emu::BackingFile> emu::pool_file(cudaMemPool_t pool) {
    std::lock_guard lock(pools_mutex);
    auto found = pools.find(pool);
    return found == pools.end() ? nullptr : found->second->file;
}

cudaMemPool_t emu::import_pool(std::shared_ptr<BackingFile> file) {
    std::lock_guard lock(pools_mutex);
    cudaMemPool_t handle = create();
    pools[handle]->file = std::move(file);
    pools[handle]->is_imported = true;
    return handle;
}

bool emu::allocates(cudaMemPool_t pool) {
    std::lock_guard lock(pools_mutex);
    auto found = pools.find(pool);
    return found != pools.end() && !found->second->is_imported;
}

void emu::put_in_pool(cudaMemPool_t handle, uint64_t address, uint64_t size) {
    std::lock_guard lock(pools_mutex);
    auto found = pools.find(handle);
    if (found == pools.end()) return;
    Pool &pool = *found->second;
    shares[address] = {handle, size};
    pool.used_bytes += size;
    pool.max_used_bytes = std::max(pool.max_used_bytes, pool.used_bytes);
}

cudaMemPool_t emu::pool_of(uint64_t address) {
    std::lock_guard lock(pools_mutex);
    auto share = shares.find(address);
    return share == shares.end() ? nullptr : share->second.pool;
}

void emu::take_from_pool(uint64_t address) {
    std::lock_guard lock(pools_mutex);
    auto share = shares.find(address);
    if (share == shares.end()) return;
    auto pool = pools.find(share->second.pool);
    if (pool != pools.end()) pool->second->used_bytes -= share->second.size;
    shares.erase(share);
}

EMU_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int device) {
    return device ? emu::fail(cudaErrorInvalidDevice) : give_default(out);
}

EMU_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *out, int device) {
    if (device) return emu::fail(cudaErrorInvalidDevice);
    if (cudaError_t error = give_default(out)) return error;
    *out = emu::current_pool();
    return cudaSuccess;
}

EMU_API cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *out, cudaMemLocation *, cudaMemAllocationType) {
    return give_default(out);
}

EMU_API cudaError_t cudaMemGetMemPool(cudaMemPool_t *out, cudaMemLocation *, cudaMemAllocationType) {
    return cudaDeviceGetMemPool(out, 0);
}

EMU_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    std::lock_guard lock(pools_mutex);
    if (device) return emu::fail(cudaErrorInvalidDevice);
    if (!pools.count(pool)) return emu::fail(cudaErrorInvalidValue);
    chosen = pool;
    return cudaSuccess;
}

EMU_API cudaError_t cudaMemPoolCreate(cudaMemPool_t *out, const cudaMemPoolProps *props) {
    EMU_REQUIRE_DEVICE();
    if (!out || !props) return emu::fail(cudaErrorInvalidValue);
    bool is_elsewhere = props->location.type == cudaMemLocationTypeDevice && props->location.id;
    if (is_elsewhere || props->allocType != cudaMemAllocationTypePinned) return emu::fail(cudaErrorInvalidValue);
    std::shared_ptr<emu::BackingFile> file;
    if (props->handleTypes) {
        bool by_descriptor = props->handleTypes == cudaMemHandleTypePosixFileDescriptor;
        if (!by_descriptor || !emu::in_session())
            return emu::unsupported_call(
                "cudaMemPoolCreate for other processes, but by file descriptors under "
                "`python -m emulator`");
        file = emu::BackingFile::create(emu::Arena::page);
        if (!file) return emu::fail(cudaErrorMemoryAllocation);
    }
    std::lock_guard lock(pools_mutex);
    *out = create();
    pools[*out]->file = std::move(file);
    return cudaSuccess;
}

EMU_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    std::lock_guard lock(pools_mutex);
    if (pool == default_pool() || !pools.erase(pool)) return emu::fail(cudaErrorInvalidValue);
    if (chosen == pool) chosen = nullptr;
    return cudaSuccess;
}

EMU_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
    std::lock_guard lock(pools_mutex);
    return pools.count(pool) ? cudaSuccess : emu::fail(cudaErrorInvalidValue);
}

EMU_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void *value) {
    std::lock_guard lock(pools_mutex);
    auto found = pools.find(pool);
    if (found == pools.end() || !value || !is_attribute(which)) return emu::fail(cudaErrorInvalidValue);
    if (is_high(which)) {
        if (*static_cast<uint64_t *>(value)) return emu::fail(cudaErrorInvalidValue);
        found->second->max_used_bytes = found->second->used_bytes;
        return cudaSuccess;
    }
    bool is_count = which == cudaMemPoolAttrReservedMemCurrent || which == cudaMemPoolAttrUsedMemCurrent;
    if (is_count) return emu::fail(cudaErrorInvalidValue);
    found->second->attributes[which] =
        is_flag(which) ? static_cast<uint64_t>(*static_cast<int *>(value)) : *static_cast<uint64_t *>(value);
    return cudaSuccess;
}

EMU_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr which, void *value) {
    std::lock_guard lock(pools_mutex);
    auto found = pools.find(handle);
    if (found == pools.end() || !value || !is_attribute(which)) return emu::fail(cudaErrorInvalidValue);
    Pool &pool = *found->second;
    uint64_t answer = which <= cudaMemPoolAttrReleaseThreshold ? pool.attributes[which]
                      : is_high(which)                         ? pool.max_used_bytes
                                                               : pool.used_bytes;
    if (is_flag(which)) {
        *static_cast<int *>(value) = static_cast<int>(answer);
    } else {
        *static_cast<uint64_t *>(value) = answer;
    }
    return cudaSuccess;
}

EMU_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *, size_t) {
    std::lock_guard lock(pools_mutex);
    return pools.count(pool) ? cudaSuccess : emu::fail(cudaErrorInvalidValue);
}

EMU_API cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *flags, cudaMemPool_t pool, cudaMemLocation *) {
    std::lock_guard lock(pools_mutex);
    if (!flags || !pools.count(pool)) return emu::fail(cudaErrorInvalidValue);
    *flags = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
}
