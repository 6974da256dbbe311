// Memory, events and pools that processes share (api/ipc.cpp): the handles are the runtime's.

#include <cstring>

#include "driver/call.h"

using namespace emu;

namespace {

template <class To, class From>
To same_bytes(const From &from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

}  // namespace

EMU_FORWARD(cuIpcGetMemHandle, cudaIpcGetMemHandle, (CUipcMemHandle * out, CUdeviceptr address),
            (reinterpret_cast<cudaIpcMemHandle_t *>(out), reinterpret_cast<void *>(address)))
EMU_FORWARD(cuIpcOpenMemHandle, cudaIpcOpenMemHandle, (CUdeviceptr * out, CUipcMemHandle handle, unsigned flags),
            (reinterpret_cast<void **>(out), same_bytes<cudaIpcMemHandle_t>(handle), flags))
EMU_FORWARD(cuIpcCloseMemHandle, cudaIpcCloseMemHandle, (CUdeviceptr address), (reinterpret_cast<void *>(address)))
EMU_FORWARD(cuIpcGetEventHandle, cudaIpcGetEventHandle, (CUipcEventHandle * out, CUevent event),
            (reinterpret_cast<cudaIpcEventHandle_t *>(out), event))
EMU_FORWARD(cuIpcOpenEventHandle, cudaIpcOpenEventHandle, (CUevent * out, CUipcEventHandle handle),
            (out, same_bytes<cudaIpcEventHandle_t>(handle)))
EMU_ALSO(cuIpcOpenMemHandle_v2, cuIpcOpenMemHandle);

EMU_FORWARD(cuMemPoolExportToShareableHandle, cudaMemPoolExportToShareableHandle,
            (void *out, CUmemoryPool pool, CUmemAllocationHandleType type, unsigned long long flags),
            (out, pool, static_cast<cudaMemAllocationHandleType>(type), static_cast<unsigned>(flags)))
EMU_FORWARD(cuMemPoolImportFromShareableHandle, cudaMemPoolImportFromShareableHandle,
            (CUmemoryPool * out, void *shared, CUmemAllocationHandleType type, unsigned long long flags),
            (out, shared, static_cast<cudaMemAllocationHandleType>(type), static_cast<unsigned>(flags)))
EMU_FORWARD(cuMemPoolExportPointer, cudaMemPoolExportPointer, (CUmemPoolPtrExportData * out, CUdeviceptr address),
            (reinterpret_cast<cudaMemPoolPtrExportData *>(out), reinterpret_cast<void *>(address)))
EMU_FORWARD(cuMemPoolImportPointer, cudaMemPoolImportPointer,
            (CUdeviceptr * out, CUmemoryPool pool, CUmemPoolPtrExportData *given),
            (reinterpret_cast<void **>(out), pool, reinterpret_cast<cudaMemPoolPtrExportData *>(given)))
