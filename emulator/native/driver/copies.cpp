// Copies and fills.

#include <cstdint>

#include "api/arrays.h"
#include "api/copy_calls.h"
#include "driver/call.h"

using namespace emu;

namespace {

void *at(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

cudaMemcpyKind kind_of(CUmemorytype to, CUmemorytype from) {
    if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
    bool to_host = to == CU_MEMORYTYPE_HOST, from_host = from == CU_MEMORYTYPE_HOST;
    if (to_host) return from_host ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
    return from_host ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

struct End {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;  // of unified memory, too
    CUarray array;
    size_t x_bytes, y, z, pitch, height;
};

cudaError_t plane_of(const End &end, Box box, Plane *out) {
    if (end.type == CU_MEMORYTYPE_ARRAY)
        return part_of_array(reinterpret_cast<cudaArray_t>(end.array), end.x_bytes, end.y, end.z, box, out);
    void *memory = end.type == CU_MEMORYTYPE_HOST ? const_cast<void *>(end.host) : at(end.device);
    // A pitch of 0 is for a single row.
    size_t pitch = end.pitch ? end.pitch : box.width;
    *out = part_of({memory, pitch, pitch, end.height ? end.height : box.height}, {end.x_bytes, end.y, end.z});
    return cudaSuccess;
}

cudaError_t copy_between(const End &to, const End &from, Box box, CUstream stream, Manner manner) {
    Plane target, source;
    if (cudaError_t error = plane_of(to, box, &target)) return fail(error);
    if (cudaError_t error = plane_of(from, box, &source)) return fail(error);
    return copy(target, source, box, kind_of(to.type, from.type), stream, manner);
}

cudaError_t copy_3d(const CUDA_MEMCPY3D *it, CUstream stream, Manner manner) {
    if (!it) return fail(cudaErrorInvalidValue);
    return copy_between({it->dstMemoryType, it->dstHost, it->dstDevice, it->dstArray, it->dstXInBytes, it->dstY,
                         it->dstZ, it->dstPitch, it->dstHeight},
                        {it->srcMemoryType, it->srcHost, it->srcDevice, it->srcArray, it->srcXInBytes, it->srcY,
                         it->srcZ, it->srcPitch, it->srcHeight},
                        {it->WidthInBytes, it->Height, it->Depth}, stream, manner);
}

cudaError_t copy_2d(const CUDA_MEMCPY2D *it, CUstream stream, Manner manner) {
    if (!it) return fail(cudaErrorInvalidValue);
    return copy_between(
        {it->dstMemoryType, it->dstHost, it->dstDevice, it->dstArray, it->dstXInBytes, it->dstY, 0, it->dstPitch, 0},
        {it->srcMemoryType, it->srcHost, it->srcDevice, it->srcArray, it->srcXInBytes, it->srcY, 0, it->srcPitch, 0},
        {it->WidthInBytes, it->Height}, stream, manner);
}

// Places in arrays are numbers of bytes, row after row.
Flat place(CUarray array, size_t offset) {
    Flat it{reinterpret_cast<cudaArray_t>(array), offset, 0, nullptr};
    if (size_t row = it.row()) {
        it.x_bytes = offset % row;
        it.y = offset / row;
    }
    return it;
}

Flat place(const void *memory) { return {nullptr, 0, 0, memory}; }

constexpr Manner waits{.waits = true}, goes_on{};

// `element`: bytes of `value`.
cudaError_t fill_rows(CUdeviceptr to, size_t pitch, uint32_t value, uint32_t element, size_t width, size_t height,
                      CUstream stream, Manner manner) {
    if (to % element || (height > 1 && pitch % element)) return fail(cudaErrorInvalidValue);
    return fill({reinterpret_cast<char *>(to), pitch}, value, {width * element, height}, element, stream, manner);
}

}  // namespace

EMU_FORWARD(cuMemcpy, cudaMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t size),
            (at(to), at(from), size, cudaMemcpyDefault))
EMU_FORWARD(cuMemcpyAsync, cudaMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream),
            (at(to), at(from), size, cudaMemcpyDefault, stream))
EMU_FORWARD(cuMemcpyHtoD, cudaMemcpy, (CUdeviceptr to, const void *from, size_t size),
            (at(to), from, size, cudaMemcpyHostToDevice))
EMU_FORWARD(cuMemcpyDtoH, cudaMemcpy, (void *to, CUdeviceptr from, size_t size),
            (to, at(from), size, cudaMemcpyDeviceToHost))
EMU_FORWARD(cuMemcpyDtoD, cudaMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t size),
            (at(to), at(from), size, cudaMemcpyDeviceToDevice))
EMU_FORWARD(cuMemcpyHtoDAsync, cudaMemcpyAsync, (CUdeviceptr to, const void *from, size_t size, CUstream stream),
            (at(to), from, size, cudaMemcpyHostToDevice, stream))
EMU_FORWARD(cuMemcpyDtoHAsync, cudaMemcpyAsync, (void *to, CUdeviceptr from, size_t size, CUstream stream),
            (to, at(from), size, cudaMemcpyDeviceToHost, stream))
EMU_FORWARD(cuMemcpyDtoDAsync, cudaMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream),
            (at(to), at(from), size, cudaMemcpyDeviceToDevice, stream))
EMU_FORWARD(cuMemcpyPeer, cudaMemcpy, (CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t size),
            (at(to), at(from), size, cudaMemcpyDeviceToDevice))
EMU_FORWARD(cuMemcpyPeerAsync, cudaMemcpyAsync,
            (CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t size, CUstream stream),
            (at(to), at(from), size, cudaMemcpyDeviceToDevice, stream))

EMU_FORWARD(cuMemcpy2D, copy_2d, (const CUDA_MEMCPY2D *copy), (copy, nullptr, waits))
EMU_FORWARD(cuMemcpy2DUnaligned, copy_2d, (const CUDA_MEMCPY2D *copy), (copy, nullptr, waits))
EMU_FORWARD(cuMemcpy2DAsync, copy_2d, (const CUDA_MEMCPY2D *copy, CUstream stream), (copy, stream, goes_on))
EMU_FORWARD(cuMemcpy3D, copy_3d, (const CUDA_MEMCPY3D *copy), (copy, nullptr, waits))
EMU_FORWARD(cuMemcpy3DAsync, copy_3d, (const CUDA_MEMCPY3D *copy, CUstream stream), (copy, stream, goes_on))

EMU_FORWARD(cuMemcpyHtoA, copy_flat, (CUarray to, size_t offset, const void *from, size_t size),
            (place(to, offset), place(from), size, cudaMemcpyHostToDevice, nullptr, waits))
EMU_FORWARD(cuMemcpyDtoA, copy_flat, (CUarray to, size_t offset, CUdeviceptr from, size_t size),
            (place(to, offset), place(at(from)), size, cudaMemcpyDeviceToDevice, nullptr, waits))
EMU_FORWARD(cuMemcpyAtoH, copy_flat, (void *to, CUarray from, size_t offset, size_t size),
            (place(to), place(from, offset), size, cudaMemcpyDeviceToHost, nullptr, waits))
EMU_FORWARD(cuMemcpyAtoD, copy_flat, (CUdeviceptr to, CUarray from, size_t offset, size_t size),
            (place(at(to)), place(from, offset), size, cudaMemcpyDeviceToDevice, nullptr, waits))
EMU_FORWARD(cuMemcpyAtoA, copy_flat, (CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t size),
            (place(to, to_offset), place(from, from_offset), size, cudaMemcpyDeviceToDevice, nullptr, waits))
EMU_FORWARD(cuMemcpyHtoAAsync, copy_flat, (CUarray to, size_t offset, const void *from, size_t size, CUstream stream),
            (place(to, offset), place(from), size, cudaMemcpyHostToDevice, stream, goes_on))
EMU_FORWARD(cuMemcpyAtoHAsync, copy_flat, (void *to, CUarray from, size_t offset, size_t size, CUstream stream),
            (place(to), place(from, offset), size, cudaMemcpyDeviceToHost, stream, goes_on))

EMU_FORWARD(cuMemsetD8, fill_rows, (CUdeviceptr to, unsigned char value, size_t count),
            (to, 0, value, 1, count, 1, nullptr, waits))
EMU_FORWARD(cuMemsetD16, fill_rows, (CUdeviceptr to, unsigned short value, size_t count),
            (to, 0, value, 2, count, 1, nullptr, waits))
EMU_FORWARD(cuMemsetD32, fill_rows, (CUdeviceptr to, unsigned value, size_t count),
            (to, 0, value, 4, count, 1, nullptr, waits))
EMU_FORWARD(cuMemsetD2D8, fill_rows, (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height),
            (to, pitch, value, 1, width, height, nullptr, waits))
EMU_FORWARD(cuMemsetD2D16, fill_rows, (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height),
            (to, pitch, value, 2, width, height, nullptr, waits))
EMU_FORWARD(cuMemsetD2D32, fill_rows, (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height),
            (to, pitch, value, 4, width, height, nullptr, waits))
EMU_FORWARD(cuMemsetD8Async, fill_rows, (CUdeviceptr to, unsigned char value, size_t count, CUstream stream),
            (to, 0, value, 1, count, 1, stream, goes_on))
EMU_FORWARD(cuMemsetD16Async, fill_rows, (CUdeviceptr to, unsigned short value, size_t count, CUstream stream),
            (to, 0, value, 2, count, 1, stream, goes_on))
EMU_FORWARD(cuMemsetD32Async, fill_rows, (CUdeviceptr to, unsigned value, size_t count, CUstream stream),
            (to, 0, value, 4, count, 1, stream, goes_on))
EMU_FORWARD(cuMemsetD2D8Async, fill_rows,
            (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height, CUstream stream),
            (to, pitch, value, 1, width, height, stream, goes_on))
EMU_FORWARD(cuMemsetD2D16Async, fill_rows,
            (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height, CUstream stream),
            (to, pitch, value, 2, width, height, stream, goes_on))
EMU_FORWARD(cuMemsetD2D32Async, fill_rows,
            (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height, CUstream stream),
            (to, pitch, value, 4, width, height, stream, goes_on))

EMU_PER_THREAD_STREAM(cuMemcpy, _ptds);
EMU_PER_THREAD_STREAM(cuMemcpyAsync, _ptsz);
EMU_PER_THREAD_STREAM(cuMemcpyHtoD_v2, _ptds);
EMU_PER_THREAD_STREAM(cuMemcpyDtoH_v2, _ptds);
EMU_PER_THREAD_STREAM(cuMemcpyDtoD_v2, _ptds);
EMU_PER_THREAD_STREAM(cuMemcpyHtoDAsync_v2, _ptsz);
EMU_PER_THREAD_STREAM(cuMemcpyDtoHAsync_v2, _ptsz);
EMU_PER_THREAD_STREAM(cuMemcpyDtoDAsync_v2, _ptsz);
EMU_PER_THREAD_STREAM(cuMemcpy2D_v2, _ptds);
EMU_PER_THREAD_STREAM(cuMemcpy2DAsync_v2, _ptsz);
EMU_PER_THREAD_STREAM(cuMemcpy3D_v2, _ptds);
EMU_PER_THREAD_STREAM(cuMemcpy3DAsync_v2, _ptsz);
EMU_PER_THREAD_STREAM(cuMemcpyHtoA_v2, _ptds);
EMU_PER_THREAD_STREAM(cuMemcpyDtoA_v2, _ptds);
EMU_PER_THREAD_STREAM(cuMemcpyAtoH_v2, _ptds);
EMU_PER_THREAD_STREAM(cuMemcpyAtoD_v2, _ptds);
EMU_PER_THREAD_STREAM(cuMemcpyAtoA_v2, _ptds);
EMU_PER_THREAD_STREAM(cuMemcpyHtoAAsync_v2, _ptsz);
EMU_PER_THREAD_STREAM(cuMemcpyAtoHAsync_v2, _ptsz);
EMU_PER_THREAD_STREAM(cuMemsetD8_v2, _ptds);
EMU_PER_THREAD_STREAM(cuMemsetD16_v2, _ptds);
EMU_PER_THREAD_STREAM(cuMemsetD32_v2, _ptds);
EMU_PER_THREAD_STREAM(cuMemsetD2D8_v2, _ptds);
EMU_PER_THREAD_STREAM(cuMemsetD2D16_v2, _ptds);
EMU_PER_THREAD_STREAM(cuMemsetD2D32_v2, _ptds);
EMU_PER_THREAD_STREAM(cuMemsetD2D8Async, _ptsz);
EMU_PER_THREAD_STREAM(cuMemsetD2D16Async, _ptsz);
EMU_PER_THREAD_STREAM(cuMemsetD2D32Async, _ptsz);
EMU_PER_THREAD_STREAM(cuMemcpy2DUnaligned_v2, _ptds);
EMU_PER_THREAD_STREAM(cuMemcpyPeer, _ptds);
EMU_PER_THREAD_STREAM(cuMemcpyPeerAsync, _ptsz);
EMU_PER_THREAD_STREAM(cuMemsetD8Async, _ptsz);
EMU_PER_THREAD_STREAM(cuMemsetD16Async, _ptsz);
EMU_PER_THREAD_STREAM(cuMemsetD32Async, _ptsz);
