// What a program asks about the device, and the calls that would choose or configure one. There is one device, number
// 0.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include "api/context.h"
#include "api/device_model.h"
#include "api/errors.h"
#include "api/image_limits.h"
#include "api/limits.h"
#include "api/stream_queue.h"
#include "exec/memory.h"
#include "replay/recording.h"

namespace model = emu::device_model;

namespace {

unsigned device_flags = cudaDeviceScheduleAuto;
std::mutex limits_mutex;
const std::map<int, size_t> first_limits = {
    {cudaLimitStackSize, 1024},
    {cudaLimitPrintfFifoSize, 1 << 20},
    {cudaLimitMallocHeapSize, 8 << 20},
    {cudaLimitDevRuntimeSyncDepth, 2},
    {cudaLimitDevRuntimePendingLaunchCount, 2048},
    {cudaLimitMaxL2FetchGranularity, 64},
    {cudaLimitPersistingL2CacheSize, 0},
};
std::map<int, size_t> limits = first_limits;

int attribute(cudaDeviceAttr which, bool *known) {
    *known = true;
    switch (which) {
    case cudaDevAttrMaxThreadsPerBlock: return model::threads_per_block;
    case cudaDevAttrMaxBlockDimX: return model::block_dimensions[0];
    case cudaDevAttrMaxBlockDimY: return model::block_dimensions[1];
    case cudaDevAttrMaxBlockDimZ: return model::block_dimensions[2];
    case cudaDevAttrMaxGridDimX: return model::grid_dimensions[0];
    case cudaDevAttrMaxGridDimY: return model::grid_dimensions[1];
    case cudaDevAttrMaxGridDimZ: return model::grid_dimensions[2];
    case cudaDevAttrMaxSharedMemoryPerBlock: return model::shared_per_block;
    case cudaDevAttrTotalConstantMemory: return model::constant_bytes;
    case cudaDevAttrWarpSize: return model::warp_size;
    case cudaDevAttrMaxPitch: return 2147483647;
    case cudaDevAttrMaxRegistersPerBlock: return model::registers_per_multiprocessor;
    case cudaDevAttrClockRate: return model::size().clock_khz;
    case cudaDevAttrTextureAlignment: return 512;
    case cudaDevAttrTexturePitchAlignment: return 32;
    case cudaDevAttrGpuOverlap: return 1;
    case cudaDevAttrMultiProcessorCount: return model::size().multiprocessors;
    case cudaDevAttrCanMapHostMemory: return 1;
    case cudaDevAttrConcurrentKernels: return 1;
    case cudaDevAttrMemoryClockRate: return model::size().memory_clock_khz;
    case cudaDevAttrGlobalMemoryBusWidth: return model::size().memory_bus_bits;
    case cudaDevAttrL2CacheSize: return static_cast<int>(model::size().l2_bytes);
    case cudaDevAttrMaxPersistingL2CacheSize: return static_cast<int>(model::size().persisting_l2_bytes());
    case cudaDevAttrMaxAccessPolicyWindowSize: return static_cast<int>(model::size().access_window_bytes());
    case cudaDevAttrMaxThreadsPerMultiProcessor: return model::size().threads_per_multiprocessor;
    case cudaDevAttrAsyncEngineCount: return 3;
    case cudaDevAttrUnifiedAddressing: return 1;
    case cudaDevAttrComputeCapabilityMajor: return model::size().major;
    case cudaDevAttrComputeCapabilityMinor: return model::size().minor;
    case cudaDevAttrStreamPrioritiesSupported: return 1;
    case cudaDevAttrGlobalL1CacheSupported: return 1;
    case cudaDevAttrLocalL1CacheSupported: return 1;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return static_cast<int>(model::size().shared_per_multiprocessor);
    case cudaDevAttrMaxRegistersPerMultiprocessor: return model::registers_per_multiprocessor;
    case cudaDevAttrManagedMemory: return 1;
    case cudaDevAttrHostNativeAtomicSupported: return 1;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: return 2;
    case cudaDevAttrConcurrentManagedAccess: return 1;
    case cudaDevAttrComputePreemptionSupported: return 1;
    case cudaDevAttrCanUseHostPointerForRegisteredMem: return 1;
    case cudaDevAttrCooperativeLaunch: return 1;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return static_cast<int>(model::size().shared_per_block_opt_in());
    case cudaDevAttrHostRegisterSupported: return 1;
    case cudaDevAttrDirectManagedMemAccessFromHost: return 1;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return model::size().blocks_per_multiprocessor;
    case cudaDevAttrReservedSharedMemoryPerBlock: return static_cast<int>(model::size().shared_reserved_per_block);
    case cudaDevAttrMemoryPoolsSupported: return 1;
    case cudaDevAttrMemoryPoolSupportedHandleTypes:
        return emu::in_session() ? cudaMemHandleTypePosixFileDescriptor : cudaMemHandleTypeNone;
    case cudaDevAttrIpcEventSupport: return emu::in_session();
    case cudaDevAttrClusterLaunch: return model::size().major >= 9;
    default:
        for (const auto &[attribute, value] : emu::image_limits::all) {
            if (attribute == which) return value;
        }
        // The rest is features that are not here.
        *known = which > 0 && which < cudaDevAttrMax;
        return 0;
    }
}

bool is_device(int device) {
    emu::begin_driver();
    return device == 0;
}

template <size_t n>
void set(int (&out)[n], const int (&values)[n]) {
    std::copy(values, values + n, out);
}

void set_image_limits(cudaDeviceProp *out) {
    namespace most = emu::image_limits;
    out->maxTexture1D = most::width_1d;
    out->maxTexture1DMipmap = most::width_1d_mipmapped;
    set(out->maxTexture2D, most::size_2d);
    set(out->maxTexture2DMipmap, most::size_2d_mipmapped);
    set(out->maxTexture2DLinear, most::size_2d_linear);
    set(out->maxTexture2DGather, most::size_2d_gathered);
    set(out->maxTexture3D, most::size_3d);
    set(out->maxTexture3DAlt, most::size_3d_alternate);
    out->maxTextureCubemap = most::cubemap;
    set(out->maxTexture1DLayered, most::layers_1d);
    set(out->maxTexture2DLayered, most::layers_2d);
    set(out->maxTextureCubemapLayered, most::cubemap_layers);
    out->maxSurface1D = most::surface_1d;
    set(out->maxSurface2D, most::size_2d);
    set(out->maxSurface3D, most::size_3d);
    set(out->maxSurface1DLayered, most::layers_1d);
    set(out->maxSurface2DLayered, most::layers_2d);
    out->maxSurfaceCubemap = most::cubemap;
    set(out->maxSurfaceCubemapLayered, most::cubemap_layers);
    out->surfaceAlignment = 512;
}

}  // namespace

size_t emu::device_limit(cudaLimit which) {
    std::lock_guard lock(limits_mutex);
    auto found = limits.find(which);
    return found == limits.end() ? 0 : found->second;
}

void emu::forget_limits() {
    std::lock_guard lock(limits_mutex);
    limits = first_limits;
    device_flags = cudaDeviceScheduleAuto;
}

EMU_API cudaError_t cudaGetDeviceCount(int *count) {
    if (!count) return emu::fail(cudaErrorInvalidValue);
    emu::begin_driver();
    *count = 1;
    return cudaSuccess;
}

EMU_API cudaError_t cudaGetDevice(int *device) {
    if (!device) return emu::fail(cudaErrorInvalidValue);
    emu::begin_driver();
    *device = 0;
    return cudaSuccess;
}

EMU_API cudaError_t cudaSetDevice(int device) {
    EMU_REQUIRE_DEVICE();
    return is_device(device) ? cudaSuccess : emu::fail(cudaErrorInvalidDevice);
}

EMU_API cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }

EMU_API cudaError_t cudaSetValidDevices(int *, int) { return cudaSuccess; }

EMU_API cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *) { return cudaGetDevice(device); }

EMU_API cudaError_t cudaGetDeviceFlags(unsigned *flags) {
    if (!flags) return emu::fail(cudaErrorInvalidValue);
    *flags = device_flags;
    return cudaSuccess;
}

EMU_API cudaError_t cudaSetDeviceFlags(unsigned flags) {
    device_flags = flags;
    return cudaSuccess;
}

EMU_API cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr which, int device) {
    if (!value) return emu::fail(cudaErrorInvalidValue);
    if (!is_device(device)) return emu::fail(cudaErrorInvalidDevice);
    bool known;
    int answer = attribute(which, &known);
    if (!known) return emu::fail(cudaErrorInvalidValue);
    *value = answer;
    return cudaSuccess;
}

EMU_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp *out, int device) {
    if (!out) return emu::fail(cudaErrorInvalidValue);
    if (!is_device(device)) return emu::fail(cudaErrorInvalidDevice);
    std::memset(out, 0, sizeof *out);
    std::snprintf(out->name, sizeof out->name, "%s", model::size().name.c_str());
    out->totalGlobalMem = emu::memory().capacity();
    out->sharedMemPerBlock = model::shared_per_block;
    out->regsPerBlock = model::registers_per_multiprocessor;
    out->warpSize = model::warp_size;
    out->memPitch = 2147483647;
    out->maxThreadsPerBlock = model::threads_per_block;
    for (int axis = 0; axis < 3; ++axis) {
        out->maxThreadsDim[axis] = model::block_dimensions[axis];
        out->maxGridSize[axis] = model::grid_dimensions[axis];
    }
    out->totalConstMem = model::constant_bytes;
    out->major = model::size().major;
    out->minor = model::size().minor;
    out->textureAlignment = 512;
    out->texturePitchAlignment = 32;
    set_image_limits(out);
    out->multiProcessorCount = model::size().multiprocessors;
    out->canMapHostMemory = 1;
    out->concurrentKernels = 1;
    out->asyncEngineCount = 3;
    out->unifiedAddressing = 1;
    out->memoryBusWidth = model::size().memory_bus_bits;
    out->l2CacheSize = static_cast<int>(model::size().l2_bytes);
    out->persistingL2CacheMaxSize = static_cast<int>(model::size().persisting_l2_bytes());
    out->accessPolicyMaxWindowSize = static_cast<int>(model::size().access_window_bytes());
    out->maxThreadsPerMultiProcessor = model::size().threads_per_multiprocessor;
    out->streamPrioritiesSupported = 1;
    out->globalL1CacheSupported = 1;
    out->localL1CacheSupported = 1;
    out->sharedMemPerMultiprocessor = model::size().shared_per_multiprocessor;
    out->regsPerMultiprocessor = model::registers_per_multiprocessor;
    out->managedMemory = 1;
    out->hostNativeAtomicSupported = 1;
    out->concurrentManagedAccess = 1;
    out->computePreemptionSupported = 1;
    out->canUseHostPointerForRegisteredMem = 1;
    out->cooperativeLaunch = 1;
    out->sharedMemPerBlockOptin = model::size().shared_per_block_opt_in();
    out->directManagedMemAccessFromHost = 1;
    out->maxBlocksPerMultiProcessor = model::size().blocks_per_multiprocessor;
    out->reservedSharedMemPerBlock = model::size().shared_reserved_per_block;
    out->hostRegisterSupported = 1;
    out->memoryPoolsSupported = 1;
    out->memoryPoolSupportedHandleTypes =
        emu::in_session() ? cudaMemHandleTypePosixFileDescriptor : cudaMemHandleTypeNone;
    out->ipcEventSupported = emu::in_session();
    out->clusterLaunch = model::size().major >= 9;
    return cudaSuccess;
}

EMU_API cudaError_t cudaDriverGetVersion(int *version) {
    if (!version) return emu::fail(cudaErrorInvalidValue);
    *version = model::runtime_version;
    return cudaSuccess;
}

EMU_API cudaError_t cudaRuntimeGetVersion(int *version) { return cudaDriverGetVersion(version); }

EMU_API cudaError_t cudaDeviceGetPCIBusId(char *id, int size, int device) {
    if (!id || size < 13) return emu::fail(cudaErrorInvalidValue);
    if (!is_device(device)) return emu::fail(cudaErrorInvalidDevice);
    std::snprintf(id, size, "0000:00:00.0");
    return cudaSuccess;
}

EMU_API cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id) {
    if (!device || !id) return emu::fail(cudaErrorInvalidValue);
    if (std::strcmp(id, "0000:00:00.0") != 0) return emu::fail(cudaErrorInvalidDevice);
    *device = 0;
    return cudaSuccess;
}

EMU_API cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit which) {
    std::lock_guard lock(limits_mutex);
    auto found = limits.find(which);
    if (!value || found == limits.end()) return emu::fail(cudaErrorInvalidValue);
    *value = found->second;
    return cudaSuccess;
}

EMU_API cudaError_t cudaDeviceSetLimit(cudaLimit which, size_t value) {
    EMU_REQUIRE_DEVICE();
    emu::drain();  // what was launched before has the limits of then
    std::lock_guard lock(limits_mutex);
    auto found = limits.find(which);
    if (found == limits.end()) return emu::fail(cudaErrorInvalidValue);
    if (which == cudaLimitStackSize && value > model::stack_bytes) return emu::fail(cudaErrorInvalidValue);
    found->second = value;
    emu::recording().add(emu::LimitStep{static_cast<uint32_t>(which), value});
    return cudaSuccess;
}

EMU_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *config) {
    if (!config) return emu::fail(cudaErrorInvalidValue);
    *config = cudaFuncCachePreferNone;
    return cudaSuccess;
}

EMU_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }

EMU_API cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *config) {
    if (!config) return emu::fail(cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

EMU_API cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }

EMU_API cudaError_t cudaCtxResetPersistingL2Cache(void) { return cudaSuccess; }

// One device has no peers.

EMU_API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    if (!can) return emu::fail(cudaErrorInvalidValue);
    if (!is_device(device) || !is_device(peer)) return emu::fail(cudaErrorInvalidDevice);
    *can = 0;
    return cudaSuccess;
}

EMU_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
    return emu::fail(is_device(peer) ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice);
}

EMU_API cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    return emu::fail(is_device(peer) ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice);
}

EMU_API cudaError_t cudaDeviceGetP2PAttribute(int *, cudaDeviceP2PAttr, int, int) {
    return emu::fail(cudaErrorInvalidDevice);
}

EMU_API cudaError_t cudaProfilerStart(void) { return cudaSuccess; }

EMU_API cudaError_t cudaProfilerStop(void) { return cudaSuccess; }

EMU_API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
    return {x, y, z, w, kind};
}
