// Texture and surface objects: the runtime's, described in the driver's terms.

#include <algorithm>

#include "driver/call.h"
#include "driver/texel_formats.h"

using namespace emu;

namespace {

// Both APIs number kinds of resources, address modes and filters alike.
cudaError_t resource_of(const CUDA_RESOURCE_DESC &given, cudaResourceDesc *out) {
    *out = {};
    out->resType = static_cast<cudaResourceType>(given.resType);
    bool has_format = true;
    switch (given.resType) {
    case CU_RESOURCE_TYPE_ARRAY: out->res.array.array = reinterpret_cast<cudaArray_t>(given.res.array.hArray); break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        out->res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(given.res.mipmap.hMipmappedArray);
        break;
    case CU_RESOURCE_TYPE_LINEAR: {
        const auto &it = given.res.linear;
        out->res.linear.devPtr = reinterpret_cast<void *>(it.devPtr);
        out->res.linear.sizeInBytes = it.sizeInBytes;
        has_format = channels_of(it.format, it.numChannels, &out->res.linear.desc);
        break;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
        const auto &it = given.res.pitch2D;
        out->res.pitch2D.devPtr = reinterpret_cast<void *>(it.devPtr);
        out->res.pitch2D.width = it.width;
        out->res.pitch2D.height = it.height;
        out->res.pitch2D.pitchInBytes = it.pitchInBytes;
        has_format = channels_of(it.format, it.numChannels, &out->res.pitch2D.desc);
        break;
    }
    default: return cudaErrorInvalidValue;
    }
    return has_format ? cudaSuccess : cudaErrorInvalidValue;
}

CUDA_RESOURCE_DESC described(const cudaResourceDesc &it) {
    CUDA_RESOURCE_DESC out = {};
    out.resType = static_cast<CUresourcetype>(it.resType);
    if (it.resType == cudaResourceTypeArray) {
        out.res.array.hArray = reinterpret_cast<CUarray>(it.res.array.array);
    } else if (it.resType == cudaResourceTypeMipmappedArray) {
        out.res.mipmap.hMipmappedArray = reinterpret_cast<CUmipmappedArray>(it.res.mipmap.mipmap);
    } else if (it.resType == cudaResourceTypeLinear) {
        const auto &from = it.res.linear;
        out.res.linear = {reinterpret_cast<CUdeviceptr>(from.devPtr), format_of(from.desc), count_of(from.desc),
                          from.sizeInBytes};
    } else {
        const auto &from = it.res.pitch2D;
        out.res.pitch2D = {reinterpret_cast<CUdeviceptr>(from.devPtr),
                           format_of(from.desc),
                           count_of(from.desc),
                           from.width,
                           from.height,
                           from.pitchInBytes};
    }
    return out;
}

cudaTextureDesc texture_of(const CUDA_TEXTURE_DESC &it, bool promotes_integers) {
    cudaTextureDesc out = {};
    for (int axis = 0; axis < 3; ++axis)
        out.addressMode[axis] = static_cast<cudaTextureAddressMode>(it.addressMode[axis]);
    out.filterMode = static_cast<cudaTextureFilterMode>(it.filterMode);
    bool as_integer = it.flags & CU_TRSF_READ_AS_INTEGER;
    out.readMode = as_integer || !promotes_integers ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
    out.sRGB = (it.flags & CU_TRSF_SRGB) != 0;
    std::copy(it.borderColor, it.borderColor + 4, out.borderColor);
    out.normalizedCoords = (it.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    out.maxAnisotropy = it.maxAnisotropy;
    out.mipmapFilterMode = static_cast<cudaTextureFilterMode>(it.mipmapFilterMode);
    out.mipmapLevelBias = it.mipmapLevelBias;
    out.minMipmapLevelClamp = it.minMipmapLevelClamp;
    out.maxMipmapLevelClamp = it.maxMipmapLevelClamp;
    out.disableTrilinearOptimization = (it.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
    out.seamlessCubemap = (it.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
    return out;
}

CUDA_TEXTURE_DESC described(const cudaTextureDesc &it) {
    CUDA_TEXTURE_DESC out = {};
    for (int axis = 0; axis < 3; ++axis) out.addressMode[axis] = static_cast<CUaddress_mode>(it.addressMode[axis]);
    out.filterMode = static_cast<CUfilter_mode>(it.filterMode);
    out.flags = (it.readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0) |
                (it.normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0) | (it.sRGB ? CU_TRSF_SRGB : 0) |
                (it.disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0) |
                (it.seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
    out.maxAnisotropy = it.maxAnisotropy;
    out.mipmapFilterMode = static_cast<CUfilter_mode>(it.mipmapFilterMode);
    out.mipmapLevelBias = it.mipmapLevelBias;
    out.minMipmapLevelClamp = it.minMipmapLevelClamp;
    out.maxMipmapLevelClamp = it.maxMipmapLevelClamp;
    std::copy(it.borderColor, it.borderColor + 4, out.borderColor);
    return out;
}

// Integers of 32 bits are never read as fractions, whatever the flags say.
bool promotes_integers(const cudaResourceDesc &resource) {
    cudaChannelFormatDesc channels = {};
    switch (resource.resType) {
    case cudaResourceTypeArray: cudaGetChannelDesc(&channels, resource.res.array.array); break;
    case cudaResourceTypeLinear: channels = resource.res.linear.desc; break;
    case cudaResourceTypePitch2D: channels = resource.res.pitch2D.desc; break;
    case cudaResourceTypeMipmappedArray: {
        cudaArray_t first = nullptr;
        if (!cudaGetMipmappedArrayLevel(&first, resource.res.mipmap.mipmap, 0)) cudaGetChannelDesc(&channels, first);
        break;
    }
    }
    return channels.x != 32 || channels.f == cudaChannelFormatKindFloat;
}

cudaError_t create_texture(CUtexObject *out, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture,
                           const CUDA_RESOURCE_VIEW_DESC *view) {
    if (!out || !resource || !texture) return fail(cudaErrorInvalidValue);
    if (view && view->format != CU_RES_VIEW_FORMAT_NONE)
        return unsupported_call("cuTexObjectCreate with a view of its resource");
    cudaResourceDesc plain;
    if (cudaError_t error = resource_of(*resource, &plain)) return fail(error);
    cudaTextureDesc sampled = texture_of(*texture, promotes_integers(plain));
    return cudaCreateTextureObject(out, &plain, &sampled, nullptr);
}

cudaError_t create_surface(CUsurfObject *out, const CUDA_RESOURCE_DESC *resource) {
    if (!out || !resource) return fail(cudaErrorInvalidValue);
    cudaResourceDesc plain;
    if (cudaError_t error = resource_of(*resource, &plain)) return fail(error);
    return cudaCreateSurfaceObject(out, &plain);
}

// What the runtime's `ask` says of an object.
template <class Given, class Out, class Handle>
cudaError_t describe(cudaError_t (*ask)(Given *, Handle), Out *out, Handle handle) {
    Given given;
    if (!out) return fail(cudaErrorInvalidValue);
    if (cudaError_t error = ask(&given, handle)) return error;
    *out = described(given);
    return cudaSuccess;
}

}  // namespace

EMU_FORWARD(cuTexObjectCreate, create_texture,
            (CUtexObject * out, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture,
             const CUDA_RESOURCE_VIEW_DESC *view),
            (out, resource, texture, view))
EMU_FORWARD(cuTexObjectDestroy, cudaDestroyTextureObject, (CUtexObject object), (object))
EMU_FORWARD(cuTexObjectGetResourceDesc, describe, (CUDA_RESOURCE_DESC * out, CUtexObject object),
            (cudaGetTextureObjectResourceDesc, out, object))
EMU_FORWARD(cuTexObjectGetTextureDesc, describe, (CUDA_TEXTURE_DESC * out, CUtexObject object),
            (cudaGetTextureObjectTextureDesc, out, object))
EMU_FORWARD(cuSurfObjectCreate, create_surface, (CUsurfObject * out, const CUDA_RESOURCE_DESC *resource),
            (out, resource))
EMU_FORWARD(cuSurfObjectDestroy, cudaDestroySurfaceObject, (CUsurfObject object), (object))
EMU_FORWARD(cuSurfObjectGetResourceDesc, describe, (CUDA_RESOURCE_DESC * out, CUsurfObject object),
            (cudaGetSurfaceObjectResourceDesc, out, object))
