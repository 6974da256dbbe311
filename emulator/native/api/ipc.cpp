// Memory, events and pools that processes share.
//
// Device memory moves into a file when the program first asks for a handle of it (exec/backing_file.h), and another
// process opens the file that the handle names. All work of a stream is done before the record of an event that
// processes share returns: whoever learns of the record, in whichever process, finds the event complete.

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>

#include "api/allocations.h"
#include "api/errors.h"
#include "api/pools.h"
#include "api/streams.h"
#include "checks/call_errors.h"
#include "exec/backing_file.h"
#include "exec/memory.h"
#include "exec/scheduler.h"

using namespace emu;

namespace {

enum class SharedKind : uint32_t { memory = 0x4d554d45, event, pool, pool_memory };

// SharedKind a handle holds, however the program passes it on.
struct SharedHandle {
    SharedKind what;
    int process, descriptor;
    uint64_t file, size;  // the file's number
    uint64_t pool;        // of memory from a pool: the pool's file, which no other has
};
static_assert(sizeof(SharedHandle) <= sizeof(cudaIpcMemHandle_t) &&
              sizeof(SharedHandle) <= sizeof(cudaIpcEventHandle_t));
static_assert(sizeof(SharedHandle) <= sizeof(cudaMemPoolPtrExportData));

struct OpenedMemory {
    uint64_t address;
    unsigned times;
};

std::mutex opened_mutex;
std::map<uint64_t, OpenedMemory> opened;  // by the file's number

template <class Out>
void pack_handle(const SharedHandle &handle, Out *out) {
    std::memset(out, 0, sizeof *out);
    std::memcpy(out, &handle, sizeof handle);
}

template <class In>
bool unpack_handle(const In &in, SharedKind what, SharedHandle *out) {
    std::memcpy(out, &in, sizeof *out);
    if (out->what == what) return true;
    explain("invalid handle", "it is no handle of this kind");
    return false;
}

// The allocation that has the byte, as a handle; `pool`: its pool's file.
cudaError_t share(const void *pointer, SharedKind what, uint64_t pool, SharedHandle *out) {
    auto found = memory().find(reinterpret_cast<uint64_t>(pointer));
    if (!found || found->kind != MemoryKind::device) {
        explain("", "only memory of cudaMalloc and its like can be shared, and this is " +
                        describe_address(reinterpret_cast<uint64_t>(pointer)));
        return cudaErrorInvalidValue;
    }
    wait_for_device();
    LaunchPause pause;
    DeviceAccess access;
    auto file = memory().share(found->begin);
    if (!file) return cudaErrorMemoryAllocation;
    *out = {what, getpid(), file->descriptor(), file->number(), found->size(), pool};
    return cudaSuccess;
}

cudaError_t open_file(const SharedHandle &handle, std::shared_ptr<BackingFile> *out) {
    if (handle.process == getpid()) {
        explain("", "the handle is of this process: only others can open it");
        return cudaErrorDeviceUninitialized;
    }
    *out = BackingFile::open_of_process(handle.process, handle.descriptor, handle.file);
    if (*out) return cudaSuccess;
    explain("invalid handle", "the process that shared it has ended, or has freed it");
    return cudaErrorInvalidResourceHandle;
}

cudaError_t import_memory(void **out, const SharedHandle &handle, MemoryKind kind, const char *call) {
    std::shared_ptr<BackingFile> file;
    if (cudaError_t error = open_file(handle, &file)) return error;
    uint64_t address = memory().import(std::move(file), handle.size, kind, called(call));
    if (!address) return cudaErrorMemoryAllocation;
    *out = reinterpret_cast<void *>(address);
    return cudaSuccess;
}

bool is_by_descriptor(cudaMemAllocationHandleType type) { return type == cudaMemHandleTypePosixFileDescriptor; }

}  // namespace

void emu::forget_imports() {
    std::lock_guard lock(opened_mutex);
    opened.clear();
}

// Other processes are those of a program under `python -m emulator`.
#define REQUIRE_SESSION(name)                             \
    EMU_REQUIRE_DEVICE();                                 \
    do {                                                  \
        if (!in_session()) return unsupported_call(name); \
    } while (0)

EMU_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *out, void *pointer) {
    REQUIRE_SESSION("cudaIpcGetMemHandle");
    SharedHandle handle;
    if (!out) return fail(cudaErrorInvalidValue);
    if (cudaError_t error = share(pointer, SharedKind::memory, 0, &handle)) return fail(error);
    pack_handle(handle, out);
    return cudaSuccess;
}

EMU_API cudaError_t cudaIpcOpenMemHandle(void **out, cudaIpcMemHandle_t given, unsigned flags) {
    REQUIRE_SESSION("cudaIpcOpenMemHandle");
    SharedHandle handle;
    if (!out || flags != cudaIpcMemLazyEnablePeerAccess || !unpack_handle(given, SharedKind::memory, &handle))
        return fail(cudaErrorInvalidValue);
    std::lock_guard lock(opened_mutex);
    if (auto found = opened.find(handle.file); found != opened.end()) {
        ++found->second.times;
        *out = reinterpret_cast<void *>(found->second.address);
        return cudaSuccess;
    }
    if (cudaError_t error = import_memory(out, handle, MemoryKind::imported, "cudaIpcOpenMemHandle"))
        return fail(error);
    opened[handle.file] = {reinterpret_cast<uint64_t>(*out), 1};
    return cudaSuccess;
}

EMU_API cudaError_t cudaIpcCloseMemHandle(void *pointer) {
    REQUIRE_SESSION("cudaIpcCloseMemHandle");
    auto address = reinterpret_cast<uint64_t>(pointer);
    {
        std::lock_guard lock(opened_mutex);
        for (auto it = opened.begin(); it != opened.end(); ++it) {
            if (it->second.address != address) continue;
            if (--it->second.times) return cudaSuccess;
            opened.erase(it);
            break;
        }
    }
    return release(pointer, kind_bit(MemoryKind::imported), cudaErrorInvalidValue);
}

EMU_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *out, cudaEvent_t given) {
    REQUIRE_SESSION("cudaIpcGetEventHandle");
    Event *event = event_of(given);
    if (!out || !event) return fail(out ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
    if (!(event->flags & cudaEventInterprocess)) {
        explain("", "the event was made without cudaEventInterprocess");
        return fail(cudaErrorInvalidResourceHandle);
    }
    pack_handle({SharedKind::event, getpid(), 0, 0, 0, 0}, out);
    return cudaSuccess;
}

EMU_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *out, cudaIpcEventHandle_t given) {
    REQUIRE_SESSION("cudaIpcOpenEventHandle");
    SharedHandle handle;
    if (!out || !unpack_handle(given, SharedKind::event, &handle)) return fail(cudaErrorInvalidValue);
    if (handle.process == getpid()) {
        explain("", "the handle is of this process: only others can open it");
        return fail(cudaErrorDeviceUninitialized);
    }
    return cudaEventCreateWithFlags(out, cudaEventDisableTiming | cudaEventInterprocess);
}

// A pool's handle is a file that tells it from other pools.

EMU_API cudaError_t cudaMemPoolExportToShareableHandle(void *out, cudaMemPool_t pool, cudaMemAllocationHandleType type,
                                                       unsigned flags) {
    REQUIRE_SESSION("cudaMemPoolExportToShareableHandle");
    auto file = pool_file(pool);
    if (!out || flags || !is_by_descriptor(type) || !file) {
        if (is_pool(pool) && !file) explain("", "the pool was made without this type in handleTypes");
        return fail(cudaErrorInvalidValue);
    }
    SharedHandle handle{SharedKind::pool, getpid(), file->descriptor(), file->number(), 0, file->number()};
    int descriptor = file->write(&handle, sizeof handle) ? fcntl(file->descriptor(), F_DUPFD_CLOEXEC, 0) : -1;
    if (descriptor < 0) return fail(cudaErrorOperatingSystem);
    std::memcpy(out, &descriptor, sizeof descriptor);
    return cudaSuccess;
}

EMU_API cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *out, void *shared,
                                                         cudaMemAllocationHandleType type, unsigned flags) {
    REQUIRE_SESSION("cudaMemPoolImportFromShareableHandle");
    if (!out || flags || !is_by_descriptor(type)) return fail(cudaErrorInvalidValue);
    auto file = BackingFile::open(static_cast<int>(reinterpret_cast<intptr_t>(shared)));
    SharedHandle handle{};
    if (!file || !file->read(&handle, sizeof handle) || handle.what != SharedKind::pool) {
        explain("invalid handle", "the file descriptor is not one that cudaMemPoolExportToShareableHandle gave");
        return fail(cudaErrorInvalidValue);
    }
    *out = import_pool(std::move(file));
    return cudaSuccess;
}

EMU_API cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData *out, void *pointer) {
    REQUIRE_SESSION("cudaMemPoolExportPointer");
    auto found = memory().find(reinterpret_cast<uint64_t>(pointer));
    auto pool = found ? pool_file(pool_of(found->begin)) : nullptr;
    if (!out || !pool) {
        if (out) explain("", "it is not memory from a pool that was made for other processes");
        return fail(cudaErrorInvalidValue);
    }
    SharedHandle handle;
    if (cudaError_t error = share(pointer, SharedKind::pool_memory, pool->number(), &handle)) return fail(error);
    pack_handle(handle, out);
    return cudaSuccess;
}

EMU_API cudaError_t cudaMemPoolImportPointer(void **out, cudaMemPool_t pool, cudaMemPoolPtrExportData *given) {
    REQUIRE_SESSION("cudaMemPoolImportPointer");
    SharedHandle handle;
    auto file = pool_file(pool);
    if (!out || !given || !file || !unpack_handle(*given, SharedKind::pool_memory, &handle))
        return fail(cudaErrorInvalidValue);
    if (handle.pool != file->number()) {
        explain("invalid handle", "the memory is from another pool");
        return fail(cudaErrorInvalidValue);
    }
    cudaError_t error = import_memory(out, handle, MemoryKind::device, "cudaMemPoolImportPointer");
    return fail(error);
}
