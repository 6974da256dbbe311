// cudaMallocArray and its kin.

#include "api/arrays.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "api/allocations.h"
#include "api/errors.h"
#include "api/image_limits.h"
#include "api/streams.h"
#include "checks/call_errors.h"
#include "exec/round_up.h"

namespace emu {

namespace {

constexpr unsigned known_flags =
    cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather | cudaArrayColorAttachment;
constexpr size_t row_alignment = 32;

struct Mipmapped {
    Array whole;
    std::vector<cudaArray_t> levels;
};

std::mutex arrays_mutex;
std::map<const void *, std::unique_ptr<Array>> arrays;
std::map<const void *, std::unique_ptr<Mipmapped>> mipmapped;

// The most texels along each axis, by what the array is.
cudaExtent most_of(const cudaExtent &extent, unsigned flags) {
    bool layered = (flags & cudaArrayLayered) != 0;
    auto most = [](size_t width, size_t height, size_t depth) { return cudaExtent{width, height, depth}; };
    if (flags & cudaArrayCubemap)
        return most(image_limits::cubemap, image_limits::cubemap, layered ? image_limits::cubemap_layers[1] : 6);
    if (layered && !extent.height) return most(image_limits::layers_1d[0], 0, image_limits::layers_1d[1]);
    if (layered) return most(image_limits::layers_2d[0], image_limits::layers_2d[1], image_limits::layers_2d[2]);
    if (extent.depth) return most(image_limits::size_3d[0], image_limits::size_3d[1], image_limits::size_3d[2]);
    if (!extent.height)
        return most(flags & cudaArraySurfaceLoadStore ? image_limits::surface_1d : image_limits::width_1d, 0, 0);
    const auto &flat = flags & cudaArrayTextureGather ? image_limits::size_2d_gathered : image_limits::size_2d;
    return most(flat[0], flat[1], 0);
}

// Why there is no such array; null where there can be one.
const char *impossible(const cudaExtent &extent, unsigned flags) {
    bool layered = (flags & cudaArrayLayered) != 0, cubemap = (flags & cudaArrayCubemap) != 0;
    if (!extent.width) return "an array has a width";
    if (layered && !extent.depth) return "a layered array has its number of layers as its depth";
    if (cubemap && (extent.width != extent.height || !extent.depth || extent.depth % 6)) {
        return "a cubemap is as high as wide, and has six faces (of each layer) as its depth";
    }
    if (cubemap && !layered && extent.depth != 6) return "a cubemap without layers has a depth of 6";
    if (!layered && extent.depth && !extent.height) return "an array with a depth has a height";
    if (flags & cudaArrayTextureGather && (extent.depth || !extent.height))
        return "only two-dimensional arrays can be gathered from";
    cudaExtent most = most_of(extent, flags);
    if (extent.width > most.width || extent.height > most.height || extent.depth > most.depth)
        return "it is larger than such arrays can be";
    return nullptr;
}

// Lays the levels out from address 0 on. Returns the bytes.
uint64_t lay_out(Image *image, const cudaExtent &extent, uint32_t levels) {
    uint64_t size = 0;
    image->level_count = levels;
    for (uint32_t i = 0; i < levels; ++i) {
        auto at_level = [&](size_t texels) { return static_cast<uint32_t>(std::max<size_t>(texels >> i, 1)); };
        ImageLevel &level = image->levels[i];
        level.width = at_level(extent.width);
        level.height = at_level(extent.height);
        level.depth =
            image->is_layered || image->is_cubemap ? static_cast<uint32_t>(extent.depth) : at_level(extent.depth);
        level.pitch = round_up(uint64_t{level.width} * image->texel_bytes(), row_alignment);
        level.slice = level.pitch * level.height;
        level.address = size;
        size += level.slice * level.depth;
    }
    return size;
}

cudaError_t refuse_array(const char *why) {
    explain("", why);
    return cudaErrorInvalidValue;
}

cudaError_t make_array(const cudaChannelFormatDesc *format, const cudaExtent &extent, unsigned flags, uint32_t levels,
                       const char *call, Array *out) {
    if (!format) return fail(cudaErrorInvalidValue);
    if (flags & (cudaArraySparse | cudaArrayDeferredMapping)) return unsupported_call("sparse CUDA arrays");
    *out = {*format, extent, flags, {}, 0};
    if (flags & ~known_flags) return fail(refuse_array("arrays have no such flag"));
    if (!set_format(*format, &out->image)) return fail(refuse_format());
    if (const char *why = impossible(extent, flags)) return fail(refuse_array(why));
    out->image.is_layered = (flags & cudaArrayLayered) != 0;
    out->image.is_cubemap = (flags & cudaArrayCubemap) != 0;
    uint64_t size = lay_out(&out->image, extent, levels);
    void *memory = nullptr;
    if (cudaError_t error = allocate(&memory, size, MemoryKind::array, call)) return error;
    out->address = reinterpret_cast<uint64_t>(memory);
    for (uint32_t i = 0; i < levels; ++i) out->image.levels[i].address += out->address;
    return cudaSuccess;
}

cudaArray_t keep_array(const Array &array) {
    auto kept = std::make_unique<Array>(array);
    auto handle = reinterpret_cast<cudaArray_t>(kept.get());
    std::lock_guard lock(arrays_mutex);
    arrays[handle] = std::move(kept);
    return handle;
}

cudaError_t make_plain(cudaArray_t *out, const cudaChannelFormatDesc *format, const cudaExtent &extent, unsigned flags,
                       const char *call) {
    if (!out) return fail(cudaErrorInvalidValue);
    *out = nullptr;
    Array array;
    if (cudaError_t error = make_array(format, extent, flags, 1, call, &array)) return error;
    *out = keep_array(array);
    return cudaSuccess;
}

}  // namespace

const Array *array_of(cudaArray_const_t handle) {
    std::lock_guard lock(arrays_mutex);
    auto found = arrays.find(handle);
    return found == arrays.end() ? nullptr : found->second.get();
}

const Array *mipmapped_of(cudaMipmappedArray_const_t handle) {
    std::lock_guard lock(arrays_mutex);
    auto found = mipmapped.find(handle);
    return found == mipmapped.end() ? nullptr : &found->second->whole;
}

void forget_arrays() {
    std::lock_guard lock(arrays_mutex);
    arrays.clear();
    mipmapped.clear();
}

cudaError_t refuse_format() {
    explain("", "texels have one, two or four channels, all of 8, 16 or 32 bits, or of floats of 16 or 32 bits");
    return cudaErrorInvalidChannelDescriptor;
}

bool set_format(const cudaChannelFormatDesc &format, Image *image) {
    const int bits[] = {format.x, format.y, format.z, format.w};
    image->kind = format.f;
    for (int c = 0; c < 4; ++c) image->bits[c] = static_cast<uint32_t>(bits[c]);
    return is_format(*image);
}

cudaError_t part_of_array(cudaArray_const_t handle, size_t x_bytes, size_t y, size_t z, Box box, Plane *out) {
    const Array *array = array_of(handle);
    if (!array) {
        explain("copy outside of allocations", "it was given an array that does not exist");
        return cudaErrorInvalidResourceHandle;
    }
    const ImageLevel &level = array->image.levels[0];
    uint64_t row = uint64_t{level.width} * array->image.texel_bytes();
    auto fits = [](uint64_t begin, uint64_t count, uint64_t size) { return begin <= size && count <= size - begin; };
    if (!fits(x_bytes, box.width, row) || !fits(y, box.height, level.height) || !fits(z, box.depth, level.depth)) {
        auto text = [](uint64_t a, uint64_t b, uint64_t c) {
            return std::to_string(a) + " bytes x " + std::to_string(b) + " x " + std::to_string(c);
        };
        explain("copy past the end", text(box.width, box.height, box.depth) + " from (" + std::to_string(x_bytes) +
                                         ", " + std::to_string(y) + ", " + std::to_string(z) + ") on, of an array of " +
                                         text(row, level.height, level.depth));
        return cudaErrorInvalidValue;
    }
    *out = {reinterpret_cast<char *>(level.address + z * level.slice + y * level.pitch + x_bytes), level.pitch,
            level.slice};
    return cudaSuccess;
}

// Of arrays positions count texels, and so does the extent, if one is there.
cudaError_t ends_of(const cudaMemcpy3DParms &params, Plane *to, Plane *from, Box *box) {
    cudaArray_const_t handles[] = {params.dstArray, params.srcArray};
    const cudaPitchedPtr *pointers[] = {&params.dstPtr, &params.srcPtr};
    const cudaPos *places[] = {&params.dstPos, &params.srcPos};
    Plane *ends[] = {to, from};
    *box = {params.extent.width, params.extent.height, params.extent.depth};
    uint32_t texel = 0;
    for (cudaArray_const_t handle : handles) {
        const Array *array = handle ? array_of(handle) : nullptr;
        if (handle && !array) return cudaErrorInvalidResourceHandle;
        if (!array) continue;
        if (texel && texel != array->image.texel_bytes())
            return refuse_array("both arrays must have texels of the same size");
        texel = array->image.texel_bytes();
    }
    if (texel && __builtin_mul_overflow(box->width, texel, &box->width)) return cudaErrorInvalidValue;
    for (int i = 0; i < 2; ++i) {
        if (handles[i] && pointers[i]->ptr) return refuse_array("an end of a copy is an array or memory, not both");
        if (!handles[i]) {
            *ends[i] = part_of(*pointers[i], *places[i]);
            continue;
        }
        size_t x_bytes;
        if (__builtin_mul_overflow(places[i]->x, texel, &x_bytes)) return cudaErrorInvalidValue;
        if (cudaError_t error = part_of_array(handles[i], x_bytes, places[i]->y, places[i]->z, *box, ends[i]))
            return error;
    }
    return cudaSuccess;
}

}  // namespace emu

using namespace emu;

EMU_API cudaError_t cudaMallocArray(cudaArray_t *out, const cudaChannelFormatDesc *format, size_t width, size_t height,
                                    unsigned flags) {
    return make_plain(out, format, {width, height, 0}, flags, "cudaMallocArray");
}

EMU_API cudaError_t cudaMalloc3DArray(cudaArray_t *out, const cudaChannelFormatDesc *format, cudaExtent extent,
                                      unsigned flags) {
    return make_plain(out, format, extent, flags, "cudaMalloc3DArray");
}

EMU_API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *out, const cudaChannelFormatDesc *format,
                                             cudaExtent extent, unsigned count, unsigned flags) {
    if (!out) return fail(cudaErrorInvalidValue);
    *out = nullptr;
    size_t longest =
        std::max({extent.width, extent.height, flags & cudaArrayLayered ? size_t{0} : extent.depth, size_t{1}});
    unsigned most = 64u - static_cast<unsigned>(__builtin_clzl(longest));
    auto kept = std::make_unique<Mipmapped>();
    Array &whole = kept->whole;
    unsigned levels = std::min(std::clamp(count, 1u, most), most_image_levels);
    if (cudaError_t error = make_array(format, extent, flags, levels, "cudaMallocMipmappedArray", &whole)) return error;
    for (uint32_t i = 0; i < levels; ++i) {
        Array level = whole;
        const ImageLevel &place = whole.image.levels[i];
        level.extent = {place.width, extent.height ? place.height : 0, extent.depth ? place.depth : 0};
        level.image.level_count = 1;
        level.image.levels[0] = place;
        level.address = 0;
        kept->levels.push_back(keep_array(level));
    }
    std::lock_guard lock(arrays_mutex);
    *out = reinterpret_cast<cudaMipmappedArray_t>(kept.get());
    mipmapped[*out] = std::move(kept);
    return cudaSuccess;
}

EMU_API cudaError_t cudaFreeArray(cudaArray_t handle) {
    EMU_REQUIRE_DEVICE();
    if (!handle) return cudaSuccess;
    const Array *array = array_of(handle);
    if (!array || !array->address) {
        explain("invalid free", array ? std::string("it was given a level of a mipmapped array, which ") +
                                            called("cudaFreeMipmappedArray") + " frees"
                                      : "it was given an array that does not exist, or has been freed");
        return fail(cudaErrorInvalidValue);
    }
    cudaError_t error =
        release(reinterpret_cast<void *>(array->address), kind_bit(MemoryKind::array), cudaErrorInvalidValue);
    std::lock_guard lock(arrays_mutex);
    arrays.erase(handle);
    return error;
}

EMU_API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t handle) {
    EMU_REQUIRE_DEVICE();
    if (!handle) return cudaSuccess;
    const Array *array = mipmapped_of(handle);
    if (!array) {
        explain("invalid free", "it was given a mipmapped array that does not exist, or has been freed");
        return fail(cudaErrorInvalidValue);
    }
    cudaError_t error =
        release(reinterpret_cast<void *>(array->address), kind_bit(MemoryKind::array), cudaErrorInvalidValue);
    std::lock_guard lock(arrays_mutex);
    for (cudaArray_t level : mipmapped[handle]->levels) arrays.erase(level);
    mipmapped.erase(handle);
    return error;
}

EMU_API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *out, cudaMipmappedArray_const_t handle, unsigned level) {
    if (!out) return fail(cudaErrorInvalidValue);
    std::lock_guard lock(arrays_mutex);
    auto found = mipmapped.find(handle);
    if (found == mipmapped.end()) return fail(cudaErrorInvalidResourceHandle);
    if (level >= found->second->levels.size()) return fail(cudaErrorInvalidValue);
    *out = found->second->levels[level];
    return cudaSuccess;
}

EMU_API cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *format, cudaExtent *extent, unsigned *flags,
                                     cudaArray_t handle) {
    const Array *array = array_of(handle);
    if (!array) return fail(cudaErrorInvalidResourceHandle);
    if (format) *format = array->format;
    if (extent) *extent = array->extent;
    if (flags) *flags = array->flags;
    return cudaSuccess;
}

EMU_API cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *format, cudaArray_const_t handle) {
    const Array *array = array_of(handle);
    if (!array) return fail(cudaErrorInvalidResourceHandle);
    if (!format) return fail(cudaErrorInvalidValue);
    *format = array->format;
    return cudaSuccess;
}
