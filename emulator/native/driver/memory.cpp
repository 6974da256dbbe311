// Allocations, and what pointers mean.

#include <cstring>

#include "api/managed.h"
#include "api/pools.h"
#include "driver/call.h"
#include "exec/memory.h"

using namespace emu;

namespace {

void **pointer_to(CUdeviceptr *out) { return reinterpret_cast<void **>(out); }

void *pointer(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

bool is_of_host(MemoryKind kind) { return kind == MemoryKind::pinned_host || kind == MemoryKind::registered_host; }

template <class Value>
cudaError_t give(void *out, Value value) {
    std::memcpy(out, &value, sizeof value);
    return cudaSuccess;
}

cudaError_t point_out(void *out, CUpointer_attribute which, CUdeviceptr address) {
    auto found = memory().find(address);
    if (!out || !found) return cudaErrorInvalidValue;
    bool of_host = is_of_host(found->kind), managed = is_managed(found->kind);
    switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: {
        CUcontext current = nullptr;
        cuCtxGetCurrent(&current);
        return give(out, current);
    }
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: return give(out, of_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return give(out, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!of_host && !managed) return cudaErrorInvalidValue;
        return give(out, pointer(address));
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return give(out, 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return give(out, static_cast<unsigned long long>(found->begin));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return give(out, static_cast<int>(managed));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return give(out, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return give(out, pointer(found->begin));
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return give(out, static_cast<size_t>(found->size()));
    case CU_POINTER_ATTRIBUTE_MAPPED: return give(out, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return give(out, 0ull);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: return give(out, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return give(out, pool_of(found->begin));
    default: return cudaErrorInvalidValue;
    }
}

// What cuPointerGetAttributes() answers about memory that it does not know: zero, in as many bytes as the attribute
// has.
void answer_unknown(void *out, CUpointer_attribute which) {
    switch (which) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: give(out, -2); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: give(out, 0); break;
    default: give(out, 0ull);
    }
}

cudaMemLocation location_of(CUdevice device) {
    cudaMemLocation location = {};
    location.type = device == CU_DEVICE_CPU ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device == CU_DEVICE_CPU ? 0 : device;
    return location;
}

cudaMemLocation location_of(const CUmemLocation &given) {
    cudaMemLocation location = {};
    location.type = static_cast<cudaMemLocationType>(given.type);
    location.id = given.id;
    return location;
}

// The driver has no empty allocations.
cudaError_t not_empty(size_t size) { return size ? cudaSuccess : fail(cudaErrorInvalidValue); }

}  // namespace

EMU_API CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t size) {
    return in_context([=] {
        cudaError_t error = not_empty(size);
        return error ? error : cudaMalloc(pointer_to(out), size);
    });
}

EMU_API CUresult cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height, unsigned) {
    return in_context([=] {
        cudaError_t error = not_empty(width * height);
        return error ? error : cudaMallocPitch(pointer_to(out), pitch, width, height);
    });
}

EMU_API CUresult cuMemAllocManaged(CUdeviceptr *out, size_t size, unsigned flags) {
    return in_context([=] {
        cudaError_t error = not_empty(size);
        return error ? error : cudaMallocManaged(pointer_to(out), size, flags);
    });
}

EMU_FORWARD(cuMemFree, cudaFree, (CUdeviceptr address), (pointer(address)))
EMU_FORWARD(cuMemAllocHost, cudaMallocHost, (void **out, size_t size), (out, size))
EMU_FORWARD(cuMemHostAlloc, cudaHostAlloc, (void **out, size_t size, unsigned flags), (out, size, flags))
EMU_FORWARD(cuMemFreeHost, cudaFreeHost, (void *pointer), (pointer))
EMU_FORWARD(cuMemHostRegister, cudaHostRegister, (void *pointer, size_t size, unsigned flags), (pointer, size, flags))
EMU_FORWARD(cuMemHostUnregister, cudaHostUnregister, (void *pointer), (pointer))
EMU_ALSO(cuMemHostRegister_v2, cuMemHostRegister);
EMU_FORWARD(cuMemHostGetDevicePointer, cudaHostGetDevicePointer, (CUdeviceptr * out, void *pointer, unsigned flags),
            (pointer_to(out), pointer, flags))
EMU_FORWARD(cuMemHostGetFlags, cudaHostGetFlags, (unsigned *flags, void *pointer), (flags, pointer))
EMU_FORWARD(cuMemGetInfo, cudaMemGetInfo, (size_t *free, size_t *total), (free, total))

EMU_API CUresult cuMemGetAddressRange_v2(CUdeviceptr *begin, size_t *size, CUdeviceptr address) {
    return asked([=] {
        auto found = memory().find(address);
        if (!found) return cudaErrorSymbolNotFound;
        if (begin) *begin = found->begin;
        if (size) *size = found->size();
        return cudaSuccess;
    });
}

EMU_API CUresult cuPointerGetAttribute(void *out, CUpointer_attribute which, CUdeviceptr address) {
    return asked([=] { return point_out(out, which, address); });
}

EMU_API CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *which, void **out, CUdeviceptr address) {
    return asked([=] {
        if (!which || !out) return cudaErrorInvalidValue;
        for (unsigned i = 0; i < count; ++i) {
            if (point_out(out[i], which[i], address)) answer_unknown(out[i], which[i]);
        }
        return cudaSuccess;
    });
}

EMU_API CUresult cuPointerSetAttribute(const void *, CUpointer_attribute which, CUdeviceptr address) {
    return in_context([=] {
        bool is_known = which == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS && memory().find(address);
        return is_known ? cudaSuccess : fail(cudaErrorInvalidValue);
    });
}

// Advice about managed memory: by the device's number, and in the newest form by a location.

extern "C" __attribute__((visibility("default"))) CUresult old_prefetch(CUdeviceptr address, size_t size, CUdevice to,
                                                                        CUstream stream) __asm__("cuMemPrefetchAsync");
CUresult old_prefetch(CUdeviceptr address, size_t size, CUdevice to, CUstream stream) {
    return in_context([=] { return cudaMemPrefetchAsync(pointer(address), size, location_of(to), 0, stream); });
}

extern "C" __attribute__((visibility("default"), alias("cuMemPrefetchAsync"))) decltype(old_prefetch)
    old_prefetch_ptsz __asm__("cuMemPrefetchAsync_ptsz");

extern "C" __attribute__((visibility("default"))) CUresult old_advise(CUdeviceptr address, size_t size,
                                                                      CUmem_advise advice,
                                                                      CUdevice device) __asm__("cuMemAdvise");
CUresult old_advise(CUdeviceptr address, size_t size, CUmem_advise advice, CUdevice device) {
    return in_context([=] {
        return cudaMemAdvise(pointer(address), size, static_cast<cudaMemoryAdvise>(advice), location_of(device));
    });
}

EMU_FORWARD(cuMemPrefetchAsync, cudaMemPrefetchAsync,
            (CUdeviceptr address, size_t size, CUmemLocation to, unsigned flags, CUstream stream),
            (pointer(address), size, location_of(to), flags, stream))
EMU_FORWARD(cuMemAdvise, cudaMemAdvise, (CUdeviceptr address, size_t size, CUmem_advise advice, CUmemLocation location),
            (pointer(address), size, static_cast<cudaMemoryAdvise>(advice), location_of(location)))
EMU_PER_THREAD_STREAM(cuMemPrefetchAsync_v2, _ptsz);
EMU_FORWARD(cuMemRangeGetAttribute, cudaMemRangeGetAttribute,
            (void *out, size_t bytes, CUmem_range_attribute which, CUdeviceptr address, size_t size),
            (out, bytes, static_cast<cudaMemRangeAttribute>(which), pointer(address), size))
EMU_FORWARD(cuMemRangeGetAttributes, cudaMemRangeGetAttributes,
            (void **out, size_t *bytes, CUmem_range_attribute *which, size_t count, CUdeviceptr address, size_t size),
            (out, bytes, reinterpret_cast<cudaMemRangeAttribute *>(which), count, pointer(address), size))

// Pools, whose attributes and properties have the runtime's numbers and layout.

EMU_FORWARD(cuMemAllocAsync, cudaMallocAsync, (CUdeviceptr * out, size_t size, CUstream stream),
            (pointer_to(out), size, stream))
EMU_FORWARD(cuMemAllocFromPoolAsync, cudaMallocFromPoolAsync,
            (CUdeviceptr * out, size_t size, CUmemoryPool pool, CUstream stream), (pointer_to(out), size, pool, stream))
EMU_FORWARD(cuMemFreeAsync, cudaFreeAsync, (CUdeviceptr address, CUstream stream), (pointer(address), stream))
EMU_FORWARD(cuDeviceGetDefaultMemPool, cudaDeviceGetDefaultMemPool, (CUmemoryPool * out, CUdevice device),
            (out, device))
EMU_FORWARD(cuDeviceGetMemPool, cudaDeviceGetMemPool, (CUmemoryPool * out, CUdevice device), (out, device))
EMU_FORWARD(cuDeviceSetMemPool, cudaDeviceSetMemPool, (CUdevice device, CUmemoryPool pool), (device, pool))
EMU_FORWARD(cuMemPoolCreate, cudaMemPoolCreate, (CUmemoryPool * out, const CUmemPoolProps *properties),
            (out, reinterpret_cast<const cudaMemPoolProps *>(properties)))
EMU_FORWARD(cuMemPoolDestroy, cudaMemPoolDestroy, (CUmemoryPool pool), (pool))
EMU_FORWARD(cuMemPoolTrimTo, cudaMemPoolTrimTo, (CUmemoryPool pool, size_t bytes), (pool, bytes))
EMU_FORWARD(cuMemPoolSetAttribute, cudaMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute which, void *value),
            (pool, static_cast<cudaMemPoolAttr>(which), value))
EMU_FORWARD(cuMemPoolGetAttribute, cudaMemPoolGetAttribute, (CUmemoryPool pool, CUmemPool_attribute which, void *value),
            (pool, static_cast<cudaMemPoolAttr>(which), value))
EMU_FORWARD(cuMemPoolSetAccess, cudaMemPoolSetAccess, (CUmemoryPool pool, const CUmemAccessDesc *map, size_t count),
            (pool, reinterpret_cast<const cudaMemAccessDesc *>(map), count))
EMU_FORWARD(cuMemPoolGetAccess, cudaMemPoolGetAccess,
            (CUmemAccess_flags * flags, CUmemoryPool pool, CUmemLocation *location),
            (reinterpret_cast<cudaMemAccessFlags *>(flags), pool, reinterpret_cast<cudaMemLocation *>(location)))
EMU_FORWARD(cuMemGetDefaultMemPool, cudaMemGetDefaultMemPool,
            (CUmemoryPool * out, CUmemLocation *location, CUmemAllocationType type),
            (out, reinterpret_cast<cudaMemLocation *>(location), static_cast<cudaMemAllocationType>(type)))
EMU_FORWARD(cuMemGetMemPool, cudaMemGetMemPool, (CUmemoryPool * out, CUmemLocation *location, CUmemAllocationType type),
            (out, reinterpret_cast<cudaMemLocation *>(location), static_cast<cudaMemAllocationType>(type)))
EMU_PER_THREAD_STREAM(cuMemAllocAsync, _ptsz);
EMU_PER_THREAD_STREAM(cuMemAllocFromPoolAsync, _ptsz);
EMU_PER_THREAD_STREAM(cuMemFreeAsync, _ptsz);
