// cudaMemcpy, cudaMemset and their kin.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "api/arrays.h"
#include "api/copy_calls.h"
#include "api/errors.h"
#include "api/modules.h"
#include "api/streams.h"
#include "checks/call_errors.h"
#include "exec/memory.h"

using emu::Box;
using emu::Plane;

cudaError_t emu::fill(Plane to, uint32_t value, Box box, uint32_t element, cudaStream_t stream, Manner manner) {
    EMU_REQUIRE_DEVICE();
    if (cudaError_t error = check_fill(to, box)) return fail(error);
    return submit(
        stream, cudaGraphNodeTypeMemset,
        [=] {
            fill_box(to, value, box, element);
            return cudaSuccess;
        },
        manner);
}

namespace {

Plane plane(const void *pointer, size_t pitch = 0, size_t slice = 0) {
    return {static_cast<char *>(const_cast<void *>(pointer)), pitch, slice};
}

constexpr emu::Manner waiting{.waits = true}, asynchronous{};

// Memory of the host that copies cannot reach by themselves: asynchronous ones read it before they return, or wait as
// well.
bool is_pageable(const void *pointer) { return !emu::memory().find(reinterpret_cast<uint64_t>(pointer)); }

}  // namespace

cudaError_t emu::copy(Plane to, Plane from, Box box, cudaMemcpyKind kind, cudaStream_t stream, Manner manner) {
    EMU_REQUIRE_DEVICE();
    if (cudaError_t error = emu::check_copy(to, from, box, kind)) return emu::fail(error);
    if (is_pageable(to.at)) manner.waits = true;
    if (is_pageable(from.at)) manner.at_once = true;
    return emu::submit(
        stream, cudaGraphNodeTypeMemcpy,
        [=] {
            emu::copy_box(to, from, box);
            return cudaSuccess;
        },
        manner);
}

namespace {

cudaError_t copy_rows(Plane to, Plane from, Box box, cudaMemcpyKind kind, cudaStream_t stream, emu::Manner manner) {
    // Of several rows check_copy() says cudaErrorInvalidPitchValue, as a GPU does.
    bool narrow = to.pitch < box.width || from.pitch < box.width;
    if (narrow && box.height == 1) return emu::fail(cudaErrorInvalidValue);
    return emu::copy(to, from, box, kind, stream, manner);
}

cudaError_t fill_bytes(Plane to, int value, Box box, cudaStream_t stream, emu::Manner manner) {
    return emu::fill(to, static_cast<uint32_t>(value), box, 1, stream, manner);
}

// A part of a module's variable, checked against its size.
cudaError_t symbol_plane(const void *symbol, size_t offset, size_t size, Plane *out) {
    emu::SymbolLocation location;
    if (cudaError_t error = emu::find_symbol(symbol, &location)) return error;
    if (offset > location.size || size > location.size - offset) {
        std::string from = offset ? " from byte " + std::to_string(offset) + " on" : "";
        emu::explain("copy past the end", std::to_string(size) + " bytes" + from + ", of " +
                                              emu::describe_address(location.address) + ", which has " +
                                              std::to_string(location.size));
        return cudaErrorInvalidValue;
    }
    *out = plane(reinterpret_cast<void *>(location.address + offset));
    return cudaSuccess;
}

cudaError_t copy_to_symbol(const void *symbol, const void *from, size_t size, size_t offset, cudaMemcpyKind kind,
                           cudaStream_t stream, emu::Manner manner) {
    EMU_REQUIRE_DEVICE();
    Plane to;
    if (cudaError_t error = symbol_plane(symbol, offset, size, &to)) return emu::fail(error);
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return emu::fail(cudaErrorInvalidMemcpyDirection);
    return emu::copy(to, plane(from), {size}, kind, stream, manner);
}

cudaError_t copy_from_symbol(void *to, const void *symbol, size_t size, size_t offset, cudaMemcpyKind kind,
                             cudaStream_t stream, emu::Manner manner) {
    EMU_REQUIRE_DEVICE();
    Plane from;
    if (cudaError_t error = symbol_plane(symbol, offset, size, &from)) return emu::fail(error);
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        return emu::fail(cudaErrorInvalidMemcpyDirection);
    return emu::copy(plane(to), from, {size}, kind, stream, manner);
}

cudaError_t copy_3d(const cudaMemcpy3DParms *parms, cudaStream_t stream, emu::Manner manner) {
    if (!parms) return emu::fail(cudaErrorInvalidValue);
    Plane to, from;
    Box box;
    if (cudaError_t error = emu::ends_of(*parms, &to, &from, &box)) return emu::fail(error);
    return emu::copy(to, from, box, parms->kind, stream, manner);
}

}  // namespace

EMU_API cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind) {
    return emu::copy(plane(to), plane(from), {size}, kind, nullptr, waiting);
}

EMU_API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
    return emu::copy(plane(to), plane(from), {size}, kind, stream, asynchronous);
}

EMU_API cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size) {
    if (to_device || from_device) return emu::fail(cudaErrorInvalidDevice);
    return emu::copy(plane(to), plane(from), {size}, cudaMemcpyDeviceToDevice, nullptr, waiting);
}

EMU_API cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size,
                                        cudaStream_t stream) {
    if (to_device || from_device) return emu::fail(cudaErrorInvalidDevice);
    return emu::copy(plane(to), plane(from), {size}, cudaMemcpyDeviceToDevice, stream, asynchronous);
}

EMU_API cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                 size_t height, cudaMemcpyKind kind) {
    return copy_rows(plane(to, to_pitch), plane(from, from_pitch), {width, height}, kind, nullptr, waiting);
}

EMU_API cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                      size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_rows(plane(to, to_pitch), plane(from, from_pitch), {width, height}, kind, stream, asynchronous);
}

EMU_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *parms) { return copy_3d(parms, nullptr, waiting); }

EMU_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *parms, cudaStream_t stream) {
    return copy_3d(parms, stream, asynchronous);
}

EMU_API cudaError_t cudaMemset(void *to, int value, size_t size) {
    return fill_bytes(plane(to), value, {size}, nullptr, waiting);
}

EMU_API cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream) {
    return fill_bytes(plane(to), value, {size}, stream, asynchronous);
}

EMU_API cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    return fill_bytes(plane(to, pitch), value, {width, height}, nullptr, waiting);
}

EMU_API cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                                      cudaStream_t stream) {
    return fill_bytes(plane(to, pitch), value, {width, height}, stream, asynchronous);
}

EMU_API cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
    Box box{extent.width, extent.height, extent.depth};
    return fill_bytes(plane(to.ptr, to.pitch, emu::slice_of(to)), value, box, nullptr, waiting);
}

EMU_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
    Box box{extent.width, extent.height, extent.depth};
    return fill_bytes(plane(to.ptr, to.pitch, emu::slice_of(to)), value, box, stream, asynchronous);
}

EMU_API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t size, size_t offset,
                                       cudaMemcpyKind kind) {
    return copy_to_symbol(symbol, from, size, offset, kind, nullptr, waiting);
}

EMU_API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t size, size_t offset,
                                            cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_to_symbol(symbol, from, size, offset, kind, stream, asynchronous);
}

EMU_API cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t size, size_t offset,
                                         cudaMemcpyKind kind) {
    return copy_from_symbol(to, symbol, size, offset, kind, nullptr, waiting);
}

EMU_API cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t size, size_t offset,
                                              cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_from_symbol(to, symbol, size, offset, kind, stream, asynchronous);
}

EMU_API cudaError_t cudaGetSymbolAddress(void **out, const void *symbol) {
    EMU_REQUIRE_DEVICE();
    emu::SymbolLocation location;
    if (cudaError_t error = emu::find_symbol(symbol, &location)) return emu::fail(error);
    *out = reinterpret_cast<void *>(location.address);
    return cudaSuccess;
}

EMU_API cudaError_t cudaGetSymbolSize(size_t *out, const void *symbol) {
    EMU_REQUIRE_DEVICE();
    emu::SymbolLocation location;
    if (cudaError_t error = emu::find_symbol(symbol, &location)) return emu::fail(error);
    *out = location.size;
    return cudaSuccess;
}

EMU_PER_THREAD_STREAM(cudaMemcpy, _ptds);
EMU_PER_THREAD_STREAM(cudaMemcpyAsync, _ptsz);
EMU_PER_THREAD_STREAM(cudaMemcpy2D, _ptds);
EMU_PER_THREAD_STREAM(cudaMemcpy2DAsync, _ptsz);
EMU_PER_THREAD_STREAM(cudaMemcpy3D, _ptds);
EMU_PER_THREAD_STREAM(cudaMemcpy3DAsync, _ptsz);
EMU_PER_THREAD_STREAM(cudaMemset, _ptds);
EMU_PER_THREAD_STREAM(cudaMemsetAsync, _ptsz);
EMU_PER_THREAD_STREAM(cudaMemset2D, _ptds);
EMU_PER_THREAD_STREAM(cudaMemset2DAsync, _ptsz);
EMU_PER_THREAD_STREAM(cudaMemset3D, _ptds);
EMU_PER_THREAD_STREAM(cudaMemset3DAsync, _ptsz);
EMU_PER_THREAD_STREAM(cudaMemcpyToSymbol, _ptds);
EMU_PER_THREAD_STREAM(cudaMemcpyToSymbolAsync, _ptsz);
EMU_PER_THREAD_STREAM(cudaMemcpyFromSymbol, _ptds);
EMU_PER_THREAD_STREAM(cudaMemcpyFromSymbolAsync, _ptsz);
