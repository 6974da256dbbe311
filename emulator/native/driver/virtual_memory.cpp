// Virtual memory management (exec/virtual_memory.h).

#include "exec/virtual_memory.h"

#include <fcntl.h>

#include "api/streams.h"
#include "checks/call_errors.h"
#include "checks/task_races.h"
#include "driver/call.h"
#include "exec/scheduler.h"

using namespace emu;

namespace {

constexpr auto by_descriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

bool is_the_device(const CUmemLocation &location) {
    return location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id == 0;
}

cudaError_t check(const CUmemAllocationProp *properties) {
    if (!properties || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) return cudaErrorInvalidValue;
    if (properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE && properties->location.id)
        return cudaErrorInvalidDevice;
    if (!is_the_device(properties->location)) return unsupported_call("cuMemCreate for memory of the host");
    auto types = properties->requestedHandleTypes;
    if (types != CU_MEM_HANDLE_TYPE_NONE && types != by_descriptor)
        return unsupported_call("cuMemCreate with handles that are not file descriptors");
    return cudaSuccess;
}

// For calls that no argument can make wrong but a missing one.
template <class Value>
cudaError_t put(Value *out, Value value) {
    if (!out) return fail(cudaErrorInvalidValue);
    *out = value;
    return cudaSuccess;
}

cudaError_t create(CUmemGenericAllocationHandle *out, size_t size, const CUmemAllocationProp *properties) {
    EMU_REQUIRE_DEVICE();
    if (!out) return fail(cudaErrorInvalidValue);
    if (cudaError_t error = check(properties)) return fail(error);
    uint64_t handle;
    if (cudaError_t error = virtual_memory().create(size, *properties, &handle)) return fail(error);
    note_allocation(handle);
    return put(out, CUmemGenericAllocationHandle{handle});
}

cudaError_t reserve(CUdeviceptr *out, size_t size, size_t alignment, CUdeviceptr at) {
    EMU_REQUIRE_DEVICE();
    uint64_t address;
    if (!out) return fail(cudaErrorInvalidValue);
    if (cudaError_t error = virtual_memory().reserve(size, alignment, at, &address)) return fail(error);
    return put(out, CUdeviceptr{address});
}

cudaError_t map(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle) {
    EMU_REQUIRE_DEVICE();
    if (offset) {
        explain("", "the offset must be 0");
        return fail(cudaErrorInvalidValue);
    }
    return fail(virtual_memory().map(address, size, handle));
}

cudaError_t unmap(CUdeviceptr address, size_t size) {
    EMU_REQUIRE_DEVICE();
    wait_for_device();
    LaunchPause pause;
    cudaError_t error = virtual_memory().unmap(address, size);
    if (!error) task_races().forget(address, size);
    return fail(error);
}

cudaError_t set_access(CUdeviceptr address, size_t size, const CUmemAccessDesc *given, size_t count) {
    EMU_REQUIRE_DEVICE();
    if (!given || !count) return fail(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; ++i) {
        if (!is_the_device(given[i].location)) {
            bool of_device = given[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE;
            return of_device ? fail(cudaErrorInvalidDevice) : unsupported_call("cuMemSetAccess for the host");
        }
    }
    CUmemAccess_flags access = given[count - 1].flags;
    bool is_known = access == CU_MEM_ACCESS_FLAGS_PROT_NONE || access == CU_MEM_ACCESS_FLAGS_PROT_READ ||
                    access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (!is_known) return fail(cudaErrorInvalidValue);
    wait_for_device();
    LaunchPause pause;
    return fail(virtual_memory().set_access(address, size, access));
}

cudaError_t free_addresses(CUdeviceptr address, size_t size) {
    EMU_REQUIRE_DEVICE();
    return fail(virtual_memory().unreserve(address, size));
}

cudaError_t release_handle(CUmemGenericAllocationHandle handle) {
    EMU_REQUIRE_DEVICE();
    return fail(virtual_memory().release(handle));
}

cudaError_t get_access(unsigned long long *out, const CUmemLocation *location, CUdeviceptr address) {
    EMU_REQUIRE_DEVICE();
    CUmemAccess_flags access;
    if (!out || !location || !is_the_device(*location)) return fail(cudaErrorInvalidValue);
    if (cudaError_t error = virtual_memory().access_of(address, &access)) return fail(error);
    return put(out, static_cast<unsigned long long>(access));
}

cudaError_t get_granularity(size_t *out, const CUmemAllocationProp *properties) {
    EMU_REQUIRE_DEVICE();
    if (cudaError_t error = check(properties)) return fail(error);
    return put(out, size_t{VirtualMemory::granularity});
}

cudaError_t get_properties(CUmemAllocationProp *out, CUmemGenericAllocationHandle handle) {
    EMU_REQUIRE_DEVICE();
    auto memory = virtual_memory().physical(handle);
    return memory ? put(out, memory->properties) : fail(cudaErrorInvalidValue);
}

cudaError_t retain(CUmemGenericAllocationHandle *out, void *pointer) {
    EMU_REQUIRE_DEVICE();
    uint64_t handle;
    if (!out) return fail(cudaErrorInvalidValue);
    if (cudaError_t error = virtual_memory().retain(reinterpret_cast<uint64_t>(pointer), &handle)) return fail(error);
    return put(out, CUmemGenericAllocationHandle{handle});
}

cudaError_t export_handle(void *out, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type) {
    EMU_REQUIRE_DEVICE();
    auto memory = virtual_memory().physical(handle);
    if (!out || !memory || type != by_descriptor) return fail(cudaErrorInvalidValue);
    if (memory->properties.requestedHandleTypes != by_descriptor) {
        explain("", memory->label + " was made without this type in requestedHandleTypes");
        return fail(cudaErrorInvalidValue);
    }
    int descriptor = fcntl(memory->file->descriptor(), F_DUPFD_CLOEXEC, 0);
    return descriptor < 0 ? fail(cudaErrorOperatingSystem) : put(static_cast<int *>(out), descriptor);
}

cudaError_t import_handle(CUmemGenericAllocationHandle *out, void *shared, CUmemAllocationHandleType type) {
    EMU_REQUIRE_DEVICE();
    if (!out || type != by_descriptor) return fail(cudaErrorInvalidValue);
    uint64_t handle;
    auto descriptor = static_cast<int>(reinterpret_cast<intptr_t>(shared));
    if (cudaError_t error = virtual_memory().import(descriptor, &handle)) return fail(error);
    return put(out, CUmemGenericAllocationHandle{handle});
}

}  // namespace

// None of it needs a context. `flags` are for later versions: 0.
#define VIRTUAL(name, parameters, flags, call)                                          \
    EMU_API CUresult name parameters {                                                  \
        return initialized([=] { return flags ? fail(cudaErrorInvalidValue) : call; }); \
    }

VIRTUAL(cuMemAddressReserve,
        (CUdeviceptr * out, size_t size, size_t alignment, CUdeviceptr at, unsigned long long flags), flags,
        reserve(out, size, alignment, at))
VIRTUAL(cuMemAddressFree, (CUdeviceptr address, size_t size), 0, free_addresses(address, size))
VIRTUAL(cuMemCreate,
        (CUmemGenericAllocationHandle * out, size_t size, const CUmemAllocationProp *properties,
         unsigned long long flags),
        flags, create(out, size, properties))
VIRTUAL(cuMemRelease, (CUmemGenericAllocationHandle handle), 0, release_handle(handle))
VIRTUAL(cuMemMap,
        (CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
         unsigned long long flags),
        flags, map(address, size, offset, handle))
VIRTUAL(cuMemUnmap, (CUdeviceptr address, size_t size), 0, unmap(address, size))
VIRTUAL(cuMemSetAccess, (CUdeviceptr address, size_t size, const CUmemAccessDesc *given, size_t count), 0,
        set_access(address, size, given, count))
VIRTUAL(cuMemGetAccess, (unsigned long long *out, const CUmemLocation *location, CUdeviceptr address), 0,
        get_access(out, location, address))
VIRTUAL(cuMemGetAllocationGranularity,
        (size_t *out, const CUmemAllocationProp *properties, CUmemAllocationGranularity_flags), 0,
        get_granularity(out, properties))
VIRTUAL(cuMemGetAllocationPropertiesFromHandle, (CUmemAllocationProp * out, CUmemGenericAllocationHandle handle), 0,
        get_properties(out, handle))
VIRTUAL(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle * out, void *pointer), 0, retain(out, pointer))
VIRTUAL(cuMemExportToShareableHandle,
        (void *out, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type, unsigned long long flags),
        flags, export_handle(out, handle, type))
VIRTUAL(cuMemImportFromShareableHandle,
        (CUmemGenericAllocationHandle * out, void *shared, CUmemAllocationHandleType type), 0,
        import_handle(out, shared, type))
