// Texture and surface objects.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "api/arrays.h"
#include "api/errors.h"
#include "api/image_calls.h"
#include "api/image_limits.h"
#include "api/streams.h"
#include "checks/call_errors.h"
#include "exec/images.h"
#include "exec/scheduler.h"
#include "replay/recording.h"

namespace emu {

namespace {

constexpr uint64_t address_alignment = 512, texture_pitch_alignment = 32;

struct Described {
    cudaResourceDesc resource;
    cudaTextureDesc texture;
};

std::mutex descriptions_mutex;
std::map<uint64_t, Described> descriptions;

cudaError_t refuse_object(const std::string &why, cudaError_t error = cudaErrorInvalidValue) {
    explain("", why);
    return fail(error);
}

cudaError_t set_memory(const void *pointer, size_t width, size_t height, size_t pitch, Image *image) {
    uint64_t address = reinterpret_cast<uint64_t>(pointer);
    if (address % address_alignment)
        return refuse_object("the address must be a multiple of textureAlignment, 512 bytes");
    uint64_t row = width * image->texel_bytes();
    if (!on_device(pointer, pitch * (height - 1) + row))
        return refuse_object("not all of it is device memory: " + describe_address(address));
    image->level_count = 1;
    image->levels[0] = {address, pitch, 0, static_cast<uint32_t>(width), static_cast<uint32_t>(height), 1};
    return cudaSuccess;
}

cudaError_t set_linear(const cudaResourceDesc &resource, Image *image) {
    const auto &it = resource.res.linear;
    image->is_linear = 1;
    if (!set_format(it.desc, image)) return fail(refuse_format());
    size_t texels = it.sizeInBytes / image->texel_bytes();
    if (!texels || texels > image_limits::width_1d_linear)
        return refuse_object("linear memory of a texture has 1 to 268435456 texels");
    return set_memory(it.devPtr, texels, 1, 0, image);
}

cudaError_t set_pitched(const cudaResourceDesc &resource, Image *image) {
    const auto &it = resource.res.pitch2D;
    if (!it.width || !it.height || it.width > image_limits::size_2d_linear[0] ||
        it.height > image_limits::size_2d_linear[1]) {
        return refuse_object("a texture of pitched memory has at most 131072 x 65000 texels");
    }
    if (!set_format(it.desc, image)) return fail(refuse_format());
    if (it.pitchInBytes % texture_pitch_alignment)
        return refuse_object("the pitch must be a multiple of texturePitchAlignment, 32 bytes");
    if (it.pitchInBytes < it.width * image->texel_bytes()) return refuse_object("the pitch is less than a row");
    return set_memory(it.devPtr, it.width, it.height, it.pitchInBytes, image);
}

cudaError_t set_image(const cudaResourceDesc &resource, Image *image) {
    if (resource.resType == cudaResourceTypeLinear) return set_linear(resource, image);
    if (resource.resType == cudaResourceTypePitch2D) return set_pitched(resource, image);
    const Array *array = nullptr;
    if (resource.resType == cudaResourceTypeArray) array = array_of(resource.res.array.array);
    if (resource.resType == cudaResourceTypeMipmappedArray) array = mipmapped_of(resource.res.mipmap.mipmap);
    if (!array) return refuse_object("it was given an array that does not exist, or has been freed");
    *image = array->image;
    return cudaSuccess;
}

cudaError_t set_sampler(const cudaResourceDesc &resource, const cudaTextureDesc &texture, const Image &image,
                        Sampler *sampler) {
    bool is_integer = image.kind != cudaChannelFormatKindFloat;
    bool normalizes = texture.readMode == cudaReadModeNormalizedFloat && is_integer;
    if (normalizes && image.bits[0] == 32) {
        return refuse_object("integers of 32 bits cannot be read as normalized floats", cudaErrorInvalidNormSetting);
    }
    if (texture.filterMode == cudaFilterModeLinear && is_integer && !normalizes) {
        return refuse_object(
            "only floating-point numbers can be filtered: read as cudaReadModeNormalizedFloat, or take "
            "cudaFilterModePoint",
            cudaErrorInvalidFilterSetting);
    }
    if (resource.resType == cudaResourceTypeMipmappedArray && !texture.normalizedCoords) {
        return refuse_object("a mipmapped array needs normalized coordinates");
    }
    std::copy(texture.addressMode, texture.addressMode + 3, sampler->address_modes);
    sampler->filter = texture.filterMode;
    sampler->between_levels = texture.mipmapFilterMode;
    sampler->normalizes_values = normalizes;
    sampler->is_srgb = texture.sRGB != 0;
    sampler->normalized_coordinates = texture.normalizedCoords != 0;
    std::copy(texture.borderColor, texture.borderColor + 4, sampler->border);
    sampler->level_bias = texture.mipmapLevelBias;
    sampler->least_level = texture.minMipmapLevelClamp;
    sampler->most_level = texture.maxMipmapLevelClamp;
    return cudaSuccess;
}

cudaError_t keep_object(const ImageObject &object, const Described &described, unsigned long long *out) {
    if (!is_sound(object)) return refuse_object("there is no such address mode or filter");
    uint64_t handle = image_objects().add(object);
    recording().add(ImageStep{handle, object});
    std::lock_guard lock(descriptions_mutex);
    descriptions[handle] = described;
    *out = handle;
    return cudaSuccess;
}

// Work that was given to streams may still use it.
cudaError_t destroy_object(uint64_t handle, bool is_surface) {
    EMU_REQUIRE_DEVICE();
    wait_for_device();
    LaunchPause pause;
    const char *name = is_surface ? "surface" : "texture";
    const ImageObject *object = image_objects().view()->find(handle);
    if (!object || (object->is_surface != 0) != is_surface) {
        explain("invalid free",
                "it was given " + std::to_string(handle) + ", which is no handle of a " + name + " object");
        return fail(cudaErrorInvalidValue);
    }
    image_objects().remove(handle);
    recording().add(ImageReleaseStep{handle});
    std::lock_guard lock(descriptions_mutex);
    descriptions.erase(handle);
    return cudaSuccess;
}

cudaError_t describe_object(uint64_t handle, bool is_surface, Described *out) {
    auto view = image_objects().view();
    const ImageObject *object = view->find(handle);
    if (!object || (object->is_surface != 0) != is_surface) return fail(cudaErrorInvalidValue);
    std::lock_guard lock(descriptions_mutex);
    *out = descriptions[handle];
    return cudaSuccess;
}

}  // namespace

void forget_images() {
    image_objects().clear();
    std::lock_guard lock(descriptions_mutex);
    descriptions.clear();
}

}  // namespace emu

using namespace emu;

EMU_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *out, const cudaResourceDesc *resource,
                                            const cudaTextureDesc *texture, const cudaResourceViewDesc *view) {
    EMU_REQUIRE_DEVICE();
    if (!out || !resource || !texture) return fail(cudaErrorInvalidValue);
    if (view && view->format != cudaResViewFormatNone)
        return unsupported_call("cudaCreateTextureObject with a view of its resource");
    if (texture->seamlessCubemap) return unsupported_call("cudaCreateTextureObject with seamlessCubemap");
    if (texture->maxAnisotropy > 1) return unsupported_call("cudaCreateTextureObject with maxAnisotropy");
    ImageObject object{};
    if (cudaError_t error = set_image(*resource, &object.image)) return error;
    if (cudaError_t error = set_sampler(*resource, *texture, object.image, &object.sampler)) return error;
    return keep_object(object, {*resource, *texture}, out);
}

EMU_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t handle) { return destroy_object(handle, false); }

EMU_API cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc *out, cudaTextureObject_t handle) {
    Described described;
    if (!out) return fail(cudaErrorInvalidValue);
    if (cudaError_t error = describe_object(handle, false, &described)) return error;
    *out = described.resource;
    return cudaSuccess;
}

EMU_API cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc *out, cudaTextureObject_t handle) {
    Described described;
    if (!out) return fail(cudaErrorInvalidValue);
    if (cudaError_t error = describe_object(handle, false, &described)) return error;
    *out = described.texture;
    return cudaSuccess;
}

EMU_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *out, const cudaResourceDesc *resource) {
    EMU_REQUIRE_DEVICE();
    if (!out || !resource) return fail(cudaErrorInvalidValue);
    if (resource->resType != cudaResourceTypeArray) return refuse_object("a surface is of an array");
    ImageObject object{};
    if (cudaError_t error = set_image(*resource, &object.image)) return error;
    object.is_surface = 1;
    return keep_object(object, {*resource, {}}, out);
}

EMU_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t handle) { return destroy_object(handle, true); }

EMU_API cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *out, cudaSurfaceObject_t handle) {
    Described described;
    if (!out) return fail(cudaErrorInvalidValue);
    if (cudaError_t error = describe_object(handle, true, &described)) return error;
    *out = described.resource;
    return cudaSuccess;
}
