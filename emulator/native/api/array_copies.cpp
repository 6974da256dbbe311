// Copies to and from CUDA arrays, but for cudaMemcpy3D. Offsets and widths are in bytes.

#include <cuda_runtime_api.h>

#include <algorithm>

#include "api/arrays.h"
#include "api/copy_calls.h"
#include "api/errors.h"

namespace emu {

namespace {

constexpr Manner until_done{.waits = true}, in_order{};

Plane rows_of(const void *pointer, size_t pitch) {
    return {static_cast<char *>(const_cast<void *>(pointer)), pitch, 0};
}

cudaError_t end_of(const Flat &flat, size_t width, Plane *out) {
    if (flat.array) return part_of_array(flat.array, flat.x_bytes, flat.y, 0, {width}, out);
    *out = rows_of(flat.memory, 0);
    return cudaSuccess;
}

// Goes on by `width` bytes, which end no later than the row does.
void advance(Flat *flat, size_t width) {
    if (!flat->array) {
        flat->memory = static_cast<const char *>(flat->memory) + width;
        return;
    }
    flat->x_bytes += width;
    if (flat->x_bytes != flat->row()) return;
    flat->x_bytes = 0;
    ++flat->y;
}

size_t left_in_row(const Flat &flat, size_t count) {
    size_t row = flat.row();
    return flat.array && flat.x_bytes < row ? std::min(count, row - flat.x_bytes) : count;
}

}  // namespace

size_t Flat::row() const {
    const Array *it = array_of(array);
    return it ? size_t{it->image.levels[0].width} * it->image.texel_bytes() : 0;
}

cudaError_t copy_flat(Flat to, Flat from, size_t count, cudaMemcpyKind kind, cudaStream_t stream, Manner manner) {
    while (count) {
        size_t width = std::min(left_in_row(to, count), left_in_row(from, count));
        Plane target, source;
        if (cudaError_t error = end_of(to, width, &target)) return fail(error);
        if (cudaError_t error = end_of(from, width, &source)) return fail(error);
        if (cudaError_t error = copy(target, source, {width}, kind, stream, manner)) return error;
        advance(&to, width);
        advance(&from, width);
        count -= width;
    }
    return cudaSuccess;
}

namespace {

cudaError_t copy_to_array(cudaArray_t to, size_t x_bytes, size_t y, const void *from, size_t pitch, size_t width,
                          size_t height, cudaMemcpyKind kind, cudaStream_t stream, Manner manner) {
    Plane target;
    if (cudaError_t error = part_of_array(to, x_bytes, y, 0, {width, height}, &target)) return fail(error);
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost) return fail(cudaErrorInvalidMemcpyDirection);
    return copy(target, rows_of(from, pitch), {width, height}, kind, stream, manner);
}

cudaError_t copy_from_array(void *to, size_t pitch, cudaArray_const_t from, size_t x_bytes, size_t y, size_t width,
                            size_t height, cudaMemcpyKind kind, cudaStream_t stream, Manner manner) {
    Plane source;
    if (cudaError_t error = part_of_array(from, x_bytes, y, 0, {width, height}, &source)) return fail(error);
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost) return fail(cudaErrorInvalidMemcpyDirection);
    return copy(rows_of(to, pitch), source, {width, height}, kind, stream, manner);
}

}  // namespace

}  // namespace emu

using namespace emu;

EMU_API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x_bytes, size_t y, const void *from, size_t pitch,
                                        size_t width, size_t height, cudaMemcpyKind kind) {
    return copy_to_array(to, x_bytes, y, from, pitch, width, height, kind, nullptr, until_done);
}

EMU_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x_bytes, size_t y, const void *from, size_t pitch,
                                             size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_to_array(to, x_bytes, y, from, pitch, width, height, kind, stream, in_order);
}

EMU_API cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x_bytes, size_t y,
                                          size_t width, size_t height, cudaMemcpyKind kind) {
    return copy_from_array(to, pitch, from, x_bytes, y, width, height, kind, nullptr, until_done);
}

EMU_API cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x_bytes, size_t y,
                                               size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_from_array(to, pitch, from, x_bytes, y, width, height, kind, stream, in_order);
}

EMU_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x_bytes, size_t to_y, cudaArray_const_t from,
                                             size_t from_x_bytes, size_t from_y, size_t width, size_t height,
                                             cudaMemcpyKind kind) {
    Plane target, source;
    Box box{width, height};
    if (cudaError_t error = part_of_array(to, to_x_bytes, to_y, 0, box, &target)) return fail(error);
    if (cudaError_t error = part_of_array(from, from_x_bytes, from_y, 0, box, &source)) return fail(error);
    return copy(target, source, box, kind, nullptr, until_done);
}

EMU_API cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x_bytes, size_t y, const void *from, size_t count,
                                      cudaMemcpyKind kind) {
    return copy_flat({to, x_bytes, y, nullptr}, {nullptr, 0, 0, from}, count, kind, nullptr, until_done);
}

EMU_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x_bytes, size_t y, const void *from, size_t count,
                                           cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_flat({to, x_bytes, y, nullptr}, {nullptr, 0, 0, from}, count, kind, stream, in_order);
}

EMU_API cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x_bytes, size_t y, size_t count,
                                        cudaMemcpyKind kind) {
    return copy_flat({nullptr, 0, 0, to}, {from, x_bytes, y, nullptr}, count, kind, nullptr, until_done);
}

EMU_API cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x_bytes, size_t y, size_t count,
                                             cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_flat({nullptr, 0, 0, to}, {from, x_bytes, y, nullptr}, count, kind, stream, in_order);
}

EMU_API cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x_bytes, size_t to_y, cudaArray_const_t from,
                                           size_t from_x_bytes, size_t from_y, size_t count, cudaMemcpyKind kind) {
    return copy_flat({to, to_x_bytes, to_y, nullptr}, {from, from_x_bytes, from_y, nullptr}, count, kind, nullptr,
                     until_done);
}

EMU_PER_THREAD_STREAM(cudaMemcpy2DToArray, _ptds);
EMU_PER_THREAD_STREAM(cudaMemcpy2DToArrayAsync, _ptsz);
EMU_PER_THREAD_STREAM(cudaMemcpy2DFromArray, _ptds);
EMU_PER_THREAD_STREAM(cudaMemcpy2DFromArrayAsync, _ptsz);
EMU_PER_THREAD_STREAM(cudaMemcpy2DArrayToArray, _ptds);
EMU_PER_THREAD_STREAM(cudaMemcpyToArray, _ptds);
EMU_PER_THREAD_STREAM(cudaMemcpyToArrayAsync, _ptsz);
EMU_PER_THREAD_STREAM(cudaMemcpyFromArray, _ptds);
EMU_PER_THREAD_STREAM(cudaMemcpyFromArrayAsync, _ptsz);
EMU_PER_THREAD_STREAM(cudaMemcpyArrayToArray, _ptds);
