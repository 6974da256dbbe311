// What a program asks about the device. There is one, number 0.

#include <cuda.h>
#include <cudaProfiler.h>

#include <cstdio>
#include <cstring>

#include "api/device_model.h"
#include "driver/call.h"
#include "exec/memory.h"

using namespace emu;

namespace {

template <class Answer>
CUresult about_device(CUdevice device, bool has_room, Answer answer) {
    return initialized([&] {
        if (!has_room) return fail(cudaErrorInvalidValue);
        if (device) return fail(cudaErrorInvalidDevice);
        answer();
        return cudaSuccess;
    });
}

}  // namespace

EMU_API CUresult cuDeviceGetCount(int *count) {
    return initialized([=] { return cudaGetDeviceCount(count); });
}

EMU_API CUresult cuDeviceGet(CUdevice *out, int ordinal) {
    return about_device(ordinal, out, [=] { *out = 0; });
}

EMU_API CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    return about_device(device, name && size > 0, [=] {
        std::snprintf(name, static_cast<size_t>(size), "%s", device_model::size().name.c_str());
    });
}

EMU_API CUresult cuDeviceGetUuid_v2(CUuuid *out, CUdevice device) {
    return about_device(device, out, [=] { std::memcpy(out->bytes, "gpujudge device", sizeof out->bytes); });
}
EMU_ALSO(cuDeviceGetUuid_v2, cuDeviceGetUuid);

EMU_API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    return about_device(device, bytes, [=] { *bytes = memory().capacity(); });
}

// The numbers of attributes are the runtime's, which has none of virtual memory.
EMU_API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device) {
    bool of_virtual_memory = which == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ||
                             which == CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED ||
                             which == CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED;
    return initialized([=] {
        if (value && !device && of_virtual_memory) {
            *value = 1;
            return cudaSuccess;
        }
        if (value && !device && which >= static_cast<int>(cudaDevAttrMax) && which < CU_DEVICE_ATTRIBUTE_MAX) {
            *value = 0;
            return cudaSuccess;
        }
        return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(which), device);
    });
}

EMU_API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    return about_device(device, major && minor, [=] {
        *major = device_model::size().major;
        *minor = device_model::size().minor;
    });
}

EMU_API CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device) {
    return initialized([=] { return cudaDeviceGetPCIBusId(id, size, device); });
}

EMU_API CUresult cuDeviceGetByPCIBusId(CUdevice *out, const char *id) {
    return initialized([=] { return cudaDeviceGetByPCIBusId(out, id); });
}

EMU_API CUresult cuDeviceGetExecAffinitySupport(int *supported, CUexecAffinityType, CUdevice device) {
    return about_device(device, supported, [=] { *supported = 0; });
}

EMU_API CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    return initialized([=] { return cudaDeviceCanAccessPeer(can, device, peer); });
}

EMU_API CUresult cuProfilerInitialize(const char *, const char *, CUoutput_mode) { return CUDA_SUCCESS; }

EMU_API CUresult cuProfilerStart(void) { return CUDA_SUCCESS; }

EMU_API CUresult cuProfilerStop(void) { return CUDA_SUCCESS; }
