// Arrays, with the runtime's flags and handles.

#include "api/arrays.h"
#include "checks/call_errors.h"
#include "driver/call.h"
#include "driver/texel_formats.h"

using namespace emu;

namespace {

struct Format {
    CUarray_format format;
    int bits;
    cudaChannelFormatKind kind;
};

constexpr Format formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

cudaError_t create(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *given) {
    cudaChannelFormatDesc channels;
    if (!out || !given || !channels_of(given->Format, given->NumChannels, &channels))
        return fail(cudaErrorInvalidValue);
    return cudaMallocArray(reinterpret_cast<cudaArray_t *>(out), &channels, given->Width, given->Height, 0);
}

cudaError_t create_3d(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *given) {
    cudaChannelFormatDesc channels;
    if (!out || !given || !channels_of(given->Format, given->NumChannels, &channels))
        return fail(cudaErrorInvalidValue);
    return cudaMalloc3DArray(reinterpret_cast<cudaArray_t *>(out), &channels,
                             {given->Width, given->Height, given->Depth}, given->Flags);
}

cudaError_t describe(CUDA_ARRAY3D_DESCRIPTOR *out, CUarray handle) {
    const Array *array = array_of(reinterpret_cast<cudaArray_t>(handle));
    if (!array || !out) return fail(out ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
    *out = {array->extent.width,      array->extent.height,    array->extent.depth,
            format_of(array->format), count_of(array->format), array->flags};
    return cudaSuccess;
}

cudaError_t describe_flat(CUDA_ARRAY_DESCRIPTOR *out, CUarray handle) {
    CUDA_ARRAY3D_DESCRIPTOR whole;
    if (!out) return fail(cudaErrorInvalidValue);
    if (cudaError_t error = describe(&whole, handle)) return error;
    *out = {whole.Width, whole.Height, whole.Format, whole.NumChannels};
    return cudaSuccess;
}

// The driver takes no null handle.
cudaError_t destroy(CUarray handle) {
    return handle ? cudaFreeArray(reinterpret_cast<cudaArray_t>(handle)) : fail(cudaErrorInvalidResourceHandle);
}

cudaError_t create_mipmapped(CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *given, unsigned levels) {
    cudaChannelFormatDesc channels;
    if (!out || !given || !channels_of(given->Format, given->NumChannels, &channels))
        return fail(cudaErrorInvalidValue);
    return cudaMallocMipmappedArray(reinterpret_cast<cudaMipmappedArray_t *>(out), &channels,
                                    {given->Width, given->Height, given->Depth}, levels, given->Flags);
}

cudaError_t destroy_mipmapped(CUmipmappedArray handle) {
    return handle ? cudaFreeMipmappedArray(reinterpret_cast<cudaMipmappedArray_t>(handle))
                  : fail(cudaErrorInvalidResourceHandle);
}

}  // namespace

bool emu::channels_of(CUarray_format format, unsigned count, cudaChannelFormatDesc *out) {
    for (const Format &it : formats) {
        if (it.format != format || (count != 1 && count != 2 && count != 4)) continue;
        auto bits = [&](unsigned channel) { return channel < count ? it.bits : 0; };
        *out = {bits(0), bits(1), bits(2), bits(3), it.kind};
        return true;
    }
    refuse_format();
    return false;
}

CUarray_format emu::format_of(const cudaChannelFormatDesc &channels) {
    for (const Format &it : formats) {
        if (it.bits == channels.x && it.kind == channels.f) return it.format;
    }
    return CUarray_format{};
}

unsigned emu::count_of(const cudaChannelFormatDesc &channels) { return !channels.y ? 1 : !channels.z ? 2 : 4; }

EMU_FORWARD(cuArrayCreate, create, (CUarray * out, const CUDA_ARRAY_DESCRIPTOR *given), (out, given))
EMU_FORWARD(cuArray3DCreate, create_3d, (CUarray * out, const CUDA_ARRAY3D_DESCRIPTOR *given), (out, given))
EMU_FORWARD(cuArrayGetDescriptor, describe_flat, (CUDA_ARRAY_DESCRIPTOR * out, CUarray array), (out, array))
EMU_FORWARD(cuArray3DGetDescriptor, describe, (CUDA_ARRAY3D_DESCRIPTOR * out, CUarray array), (out, array))
EMU_FORWARD(cuArrayDestroy, destroy, (CUarray array), (array))
EMU_FORWARD(cuMipmappedArrayCreate, create_mipmapped,
            (CUmipmappedArray * out, const CUDA_ARRAY3D_DESCRIPTOR *given, unsigned levels), (out, given, levels))
EMU_FORWARD(cuMipmappedArrayGetLevel, cudaGetMipmappedArrayLevel,
            (CUarray * out, CUmipmappedArray array, unsigned level),
            (reinterpret_cast<cudaArray_t *>(out), reinterpret_cast<cudaMipmappedArray_const_t>(array), level))
EMU_FORWARD(cuMipmappedArrayDestroy, destroy_mipmapped, (CUmipmappedArray array), (array))
