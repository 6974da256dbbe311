// cudaMalloc and its kin.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "api/allocations.h"
#include "api/device_model.h"
#include "api/errors.h"
#include "api/graph_memory.h"
#include "api/graphs.h"
#include "api/managed.h"
#include "api/pools.h"
#include "api/streams.h"
#include "checks/call_errors.h"
#include "checks/task_races.h"
#include "exec/memory.h"
#include "exec/observe.h"
#include "exec/scheduler.h"
#include "host.h"
#include "replay/recording.h"
#include "report/report.h"

using emu::kind_bit;
using emu::MemoryKind;

namespace {

// The alignment is that of textures (cudaDevAttrTextureAlignment).
constexpr uint64_t alignment = 512, pitch_alignment = 512;

// How to free what begins at `address`, where that is another function's business.
std::string hint(uint64_t address, unsigned kinds) {
    auto found = emu::memory().find(address);
    if (!found || found->begin != address || (kinds & kind_bit(found->kind))) return "";
    switch (found->kind) {
    case MemoryKind::device:
    case MemoryKind::managed: return std::string(", which is for ") + emu::called("cudaFree");
    case MemoryKind::pinned_host: return std::string(", which is for ") + emu::called("cudaFreeHost");
    case MemoryKind::registered_host: return std::string(", which is for ") + emu::called("cudaHostUnregister");
    case MemoryKind::array: return std::string(", which is for ") + emu::called("cudaFreeArray");
    case MemoryKind::mapped: return ", which is for cuMemUnmap";
    case MemoryKind::imported: return std::string(", which is for ") + emu::called("cudaIpcCloseMemHandle");
    default: return ", which cannot be freed";
    }
}

}  // namespace

cudaError_t emu::allocate(void **out, size_t size, MemoryKind kind, const char *call, unsigned flags, uint64_t at) {
    if (!out) return emu::fail(cudaErrorInvalidValue);
    *out = nullptr;
    EMU_REQUIRE_DEVICE();
    if (size == 0) return cudaSuccess;
    uint64_t address = emu::memory().allocate(size, alignment, kind, "", emu::called(call), flags, at);
    if (!address) {
        if (emu::memory().capacity_is_limit()) emu::report().set_limit("memory");
        size_t capacity = emu::memory().capacity();
        if (kind != MemoryKind::pinned_host)
            emu::explain("", "it was asked for " + std::to_string(size) + " bytes, and " +
                                 std::to_string(capacity - emu::memory().in_use()) + " of the device's " +
                                 std::to_string(capacity) + " were free");
        return emu::fail(cudaErrorMemoryAllocation);
    }
    *out = reinterpret_cast<void *>(address);
    emu::note_allocation(address);
    if ((kind == MemoryKind::device || kind == MemoryKind::array) && emu::observe_settings().check_full &&
        !emu::memory().track_writes(address)) {
        emu::report().add_unchecked("reads of what nobody wrote in an allocation of " + std::to_string(size) +
                                    " bytes: it is too large");
    }
    if (kind != MemoryKind::pinned_host) emu::spoil(address, size);
    emu::recording().add(emu::AllocateStep{address, size, kind});
    if (emu::shared_with_host(kind)) emu::recording().share_with_host(address, size);
    return cudaSuccess;
}

cudaError_t emu::release(void *pointer, unsigned kinds, cudaError_t otherwise, emu::Stream *on) {
    EMU_REQUIRE_DEVICE();
    if (!pointer) return cudaSuccess;
    if (on) {
        emu::carry_out(*on);
    } else {
        emu::wait_for_device();
    }
    return release_now(pointer, kinds, otherwise);
}

cudaError_t emu::release_now(void *pointer, unsigned kinds, cudaError_t otherwise) {
    emu::LaunchPause pause;  // a launch on another host thread may use it until its end
    uint64_t address = reinterpret_cast<uint64_t>(pointer);
    auto known = emu::memory().find(address);
    uint64_t size = known ? known->size() : 0;
    if (!emu::memory().release(address, kinds)) {
        emu::explain("invalid free", "it was given " + emu::describe_address(address) + hint(address, kinds));
        return emu::fail(otherwise);
    }
    emu::note_release(address);
    emu::task_races().forget(address, size);
    emu::forget_advice(address);
    if (emu::memory().in_device_range(address)) emu::recording().add(emu::ReleaseStep{address});
    emu::take_from_pool(address);
    return cudaSuccess;
}

namespace {

cudaError_t allocate_from(void **out, size_t size, cudaMemPool_t pool, cudaStream_t handle, const char *call) {
    emu::Stream *stream = emu::stream_of(handle);
    if (!stream) return emu::fail(cudaErrorInvalidResourceHandle);
    if (!out || !emu::allocates(pool)) return emu::fail(cudaErrorInvalidValue);
    if (stream->capture) {
        std::shared_ptr<emu::GraphMemory> memory;
        if (cudaError_t error = emu::new_graph_memory(out, size, call, &memory)) return error;
        cudaError_t error = emu::submit(handle, cudaGraphNodeTypeMemAlloc, emu::begin_work(memory));
        if (!error) stream->last.front()->memory = memory;
        return error;
    }
    cudaError_t error = emu::allocate(out, size, MemoryKind::device, call);
    if (!error && *out) emu::put_in_pool(pool, reinterpret_cast<uint64_t>(*out), size);
    return error;
}

size_t pitch_of(size_t width) { return (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment; }

}  // namespace

EMU_API cudaError_t cudaMalloc(void **out, size_t size) {
    if (emu::breaks_capture()) return emu::fail(cudaErrorStreamCaptureUnsupported);
    return emu::allocate(out, size, MemoryKind::device, "cudaMalloc");
}

EMU_API cudaError_t cudaFree(void *pointer) {
    return emu::release(pointer, kind_bit(MemoryKind::device) | kind_bit(MemoryKind::managed), cudaErrorInvalidValue);
}

EMU_API cudaError_t cudaMallocManaged(void **out, size_t size, unsigned flags) {
    bool known = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost;
    if (!known) return emu::fail(cudaErrorInvalidValue);
    return emu::allocate(out, size, MemoryKind::managed, "cudaMallocManaged", flags);
}

EMU_API cudaError_t cudaMallocHost(void **out, size_t size) {
    return emu::allocate(out, size, MemoryKind::pinned_host, "cudaMallocHost");
}

EMU_API cudaError_t cudaHostAlloc(void **out, size_t size, unsigned flags) {
    if (flags & ~7u) return emu::fail(cudaErrorInvalidValue);
    return emu::allocate(out, size, MemoryKind::pinned_host, "cudaHostAlloc", flags);
}

EMU_API cudaError_t cudaFreeHost(void *pointer) {
    return emu::release(pointer, kind_bit(MemoryKind::pinned_host), cudaErrorInvalidValue);
}

EMU_API cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned flags) {
    EMU_REQUIRE_DEVICE();
    if (!pointer || !size || flags > 0xf) return emu::fail(cudaErrorInvalidValue);
    if (!emu::memory().register_host(reinterpret_cast<uint64_t>(pointer), size, flags)) {
        return emu::fail(cudaErrorHostMemoryAlreadyRegistered);
    }
    emu::recording().add(emu::HostRegisterStep{});
    return cudaSuccess;
}

EMU_API cudaError_t cudaHostUnregister(void *pointer) {
    if (!pointer) return emu::fail(cudaErrorInvalidValue);
    auto found = emu::memory().find(reinterpret_cast<uint64_t>(pointer));
    bool is_within = found && found->kind == MemoryKind::registered_host;
    return emu::release(pointer, kind_bit(MemoryKind::registered_host),
                        is_within ? cudaErrorInvalidValue : cudaErrorHostMemoryNotRegistered);
}

EMU_API cudaError_t cudaHostGetDevicePointer(void **out, void *pointer, unsigned flags) {
    if (!out || flags) return emu::fail(cudaErrorInvalidValue);
    EMU_REQUIRE_DEVICE();
    *out = nullptr;
    auto found = emu::memory().find(reinterpret_cast<uint64_t>(pointer));
    if (!found || (found->kind != MemoryKind::pinned_host && found->kind != MemoryKind::registered_host)) {
        return emu::fail(cudaErrorInvalidValue);
    }
    *out = pointer;
    return cudaSuccess;
}

EMU_API cudaError_t cudaHostGetFlags(unsigned *flags, void *pointer) {
    auto found = emu::memory().find(reinterpret_cast<uint64_t>(pointer));
    if (!flags || !found || found->kind != MemoryKind::pinned_host) return emu::fail(cudaErrorInvalidValue);
    *flags = found->flags | cudaHostAllocMapped;
    return cudaSuccess;
}

EMU_API cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height) {
    if (!pitch) return emu::fail(cudaErrorInvalidValue);
    *pitch = pitch_of(width);
    return emu::allocate(out, *pitch * height, MemoryKind::device, "cudaMallocPitch");
}

EMU_API cudaError_t cudaMalloc3D(cudaPitchedPtr *out, cudaExtent extent) {
    if (!out) return emu::fail(cudaErrorInvalidValue);
    size_t pitch = pitch_of(extent.width);
    void *pointer = nullptr;
    cudaError_t error =
        emu::allocate(&pointer, pitch * extent.height * extent.depth, MemoryKind::device, "cudaMalloc3D");
    if (error == cudaSuccess) *out = {pointer, pitch, extent.width, extent.height};
    return error;
}

EMU_API cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
    EMU_REQUIRE_DEVICE();
    size_t capacity = emu::memory().capacity();
    if (total) *total = capacity;
    if (free) *free = capacity - emu::memory().in_use();
    return cudaSuccess;
}

EMU_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *out, const void *pointer) {
    if (!out) return emu::fail(cudaErrorInvalidValue);
    EMU_REQUIRE_DEVICE();
    std::memset(out, 0, sizeof *out);
    auto found = emu::memory().find(reinterpret_cast<uint64_t>(pointer));
    void *plain = const_cast<void *>(pointer);
    if (!found) {
        out->type = cudaMemoryTypeUnregistered;
        out->device = -2;  // cudaInvalidDeviceId
        out->hostPointer = plain;
        return cudaSuccess;
    }
    bool of_host = found->kind == MemoryKind::pinned_host || found->kind == MemoryKind::registered_host;
    bool managed = emu::is_managed(found->kind);
    out->type = of_host ? cudaMemoryTypeHost : managed ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
    out->devicePointer = plain;
    out->hostPointer = of_host || managed ? plain : nullptr;
    return cudaSuccess;
}

// Stream-ordered allocation gives memory at once, and frees it when the stream's earlier work is done. A capture makes
// nodes of both.

EMU_API cudaError_t cudaMallocAsync(void **out, size_t size, cudaStream_t handle) {
    return allocate_from(out, size, emu::current_pool(), handle, "cudaMallocAsync");
}

EMU_API cudaError_t cudaMallocFromPoolAsync(void **out, size_t size, cudaMemPool_t pool, cudaStream_t handle) {
    return allocate_from(out, size, pool, handle, "cudaMallocFromPoolAsync");
}

EMU_API cudaError_t cudaFreeAsync(void *pointer, cudaStream_t handle) {
    emu::Stream *stream = emu::stream_of(handle);
    if (!stream) return emu::fail(cudaErrorInvalidResourceHandle);
    if (stream->capture) return emu::submit(handle, cudaGraphNodeTypeMemFree, emu::free_work(pointer));
    return emu::release(pointer, kind_bit(MemoryKind::device), cudaErrorInvalidValue, stream);
}

EMU_PER_THREAD_STREAM(cudaMallocAsync, _ptsz);
EMU_PER_THREAD_STREAM(cudaMallocFromPoolAsync, _ptsz);
EMU_PER_THREAD_STREAM(cudaFreeAsync, _ptsz);

// For the host: allocations with a name for reports, not refused after a sticky error (results are read after it).

// At the address `at`, when it is not 0.
EMU_HOST int emu_malloc(uint64_t size, const char *label, uint64_t at, uint64_t *out) {
    *out = emu::memory().allocate(size, alignment, MemoryKind::device, label, "malloc", 0, at);
    if (*out) return cudaSuccess;
    if (emu::memory().capacity_is_limit()) emu::report().set_limit("memory");
    return cudaErrorMemoryAllocation;
}

EMU_HOST int emu_free(uint64_t address) {
    emu::wait_for_device();
    emu::LaunchPause pause;
    bool known = emu::memory().release(address, kind_bit(MemoryKind::device) | kind_bit(MemoryKind::managed));
    return known ? cudaSuccess : cudaErrorInvalidValue;
}
