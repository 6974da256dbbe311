// Texture fetches and surface accesses as a caller describes them: on the emulator and on a GPU alike.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <vector>

// As model.py has it.
struct Case {
    int32_t resource, function;
    int32_t kind, bits, channels;  // of a texel
    int32_t width, height, depth, levels, flags;
    int32_t address_modes[3], filter, between_levels, normalizes_values, srgb, normalized_coordinates;
    float border[4], level_bias, least_level, most_level;
};

namespace {

enum Resource { LINEAR, PITCHED, ARRAY, MIPMAPPED };

// Coordinates: x, y, z, layer or index, level, or six derivatives.
constexpr int most_coordinates = 10;

template <class T>
__device__ T fetch(cudaTextureObject_t t, int function, const float *c) {
    int index = static_cast<int>(c[3]);
    float4 dx = make_float4(c[4], c[5], c[6], 0), dy = make_float4(c[7], c[8], c[9], 0);
    bool resident = false;
    switch (function) {
        case 0: return tex1Dfetch<T>(t, index);
        case 1: return tex1D<T>(t, c[0]);
        case 2: return tex2D<T>(t, c[0], c[1]);
        case 3: return tex3D<T>(t, c[0], c[1], c[2]);
        case 4: return tex1DLayered<T>(t, c[0], index);
        case 5: return tex2DLayered<T>(t, c[0], c[1], index);
        case 6: return texCubemap<T>(t, c[0], c[1], c[2]);
        case 7: return texCubemapLayered<T>(t, c[0], c[1], c[2], index);
        case 8: return tex1DLod<T>(t, c[0], c[4]);
        case 9: return tex2DLod<T>(t, c[0], c[1], c[4]);
        case 10: return tex3DLod<T>(t, c[0], c[1], c[2], c[4]);
        case 11: return tex2DLayeredLod<T>(t, c[0], c[1], index, c[4]);
        case 12: return texCubemapLod<T>(t, c[0], c[1], c[2], c[4]);
        case 13: return tex1DGrad<T>(t, c[0], dx.x, dy.x);
        case 14: return tex2DGrad<T>(t, c[0], c[1], make_float2(dx.x, dx.y), make_float2(dy.x, dy.y));
        case 15: return tex3DGrad<T>(t, c[0], c[1], c[2], dx, dy);
        case 16: return tex2Dgather<T>(t, c[0], c[1], 0);
        case 17: return tex2Dgather<T>(t, c[0], c[1], 1);
        case 18: return tex2Dgather<T>(t, c[0], c[1], 2);
        case 19: return tex2Dgather<T>(t, c[0], c[1], 3);
        case 20: {
            T texel = tex2D<T>(t, c[0], c[1], &resident);
            return resident ? texel : T{};
        }
    }
    return T{};
}

template <class T>
__global__ void fetch_all(cudaTextureObject_t t, int function, const float *coordinates, int count, T *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = fetch<T>(t, function, coordinates + most_coordinates * i);
}

cudaChannelFormatDesc format_of(const Case &it) {
    int bits[4] = {};
    for (int c = 0; c < it.channels; ++c) bits[c] = it.bits;
    return cudaCreateChannelDesc(bits[0], bits[1], bits[2], bits[3], static_cast<cudaChannelFormatKind>(it.kind));
}

size_t at_least_1(int n) { return n > 1 ? n : 1; }

// What a case has on the device.
struct Held {
    void *memory = nullptr;
    cudaArray_t array = nullptr;
    cudaMipmappedArray_t mipmapped = nullptr;
    cudaResourceDesc resource = {};

    ~Held() {
        cudaFree(memory);
        cudaFreeArray(array);
        cudaFreeMipmappedArray(mipmapped);
    }
};

cudaError_t copy_in(cudaArray_t array, const char *texels, size_t texel, size_t width, size_t height, size_t depth) {
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(const_cast<char *>(texels), width * texel, width, height);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(width, height, depth);
    copy.kind = cudaMemcpyHostToDevice;
    return cudaMemcpy3D(&copy);
}

#define TRY(call) \
    if (cudaError_t error_ = (call)) return error_

cudaError_t make_resource(const Case &it, const char *texels, Held *held) {
    cudaChannelFormatDesc format = format_of(it);
    size_t texel = it.bits / 8 * it.channels, width = it.width, height = at_least_1(it.height), depth = at_least_1(it.depth);
    cudaExtent extent = make_cudaExtent(it.width, it.height, it.depth);
    bool layered = it.flags & (cudaArrayLayered | cudaArrayCubemap);
    switch (it.resource) {
        case LINEAR:
            TRY(cudaMalloc(&held->memory, width * texel));
            TRY(cudaMemcpy(held->memory, texels, width * texel, cudaMemcpyHostToDevice));
            held->resource.resType = cudaResourceTypeLinear;
            held->resource.res.linear.devPtr = held->memory;
            held->resource.res.linear.desc = format;
            held->resource.res.linear.sizeInBytes = width * texel;
            return cudaSuccess;
        case PITCHED: {
            size_t pitch;
            TRY(cudaMallocPitch(&held->memory, &pitch, width * texel, height));
            TRY(cudaMemcpy2D(held->memory, pitch, texels, width * texel, width * texel, height, cudaMemcpyHostToDevice));
            held->resource.resType = cudaResourceTypePitch2D;
            held->resource.res.pitch2D.devPtr = held->memory;
            held->resource.res.pitch2D.desc = format;
            held->resource.res.pitch2D.width = width;
            held->resource.res.pitch2D.height = height;
            held->resource.res.pitch2D.pitchInBytes = pitch;
            return cudaSuccess;
        }
        case ARRAY:
            TRY(cudaMalloc3DArray(&held->array, &format, extent, it.flags));
            TRY(copy_in(held->array, texels, texel, width, height, depth));
            held->resource.resType = cudaResourceTypeArray;
            held->resource.res.array.array = held->array;
            return cudaSuccess;
    }
    TRY(cudaMallocMipmappedArray(&held->mipmapped, &format, extent, it.levels, it.flags));
    for (int level = 0; level < it.levels; ++level) {
        cudaArray_t one;
        TRY(cudaGetMipmappedArrayLevel(&one, held->mipmapped, level));
        size_t w = at_least_1(it.width >> level), h = at_least_1(it.height >> level), d = layered ? depth : at_least_1(it.depth >> level);
        TRY(copy_in(one, texels, texel, w, h, d));
        texels += w * h * d * texel;
    }
    held->resource.resType = cudaResourceTypeMipmappedArray;
    held->resource.res.mipmap.mipmap = held->mipmapped;
    return cudaSuccess;
}

cudaTextureDesc texture_of(const Case &it) {
    cudaTextureDesc texture = {};
    for (int d = 0; d < 3; ++d) texture.addressMode[d] = static_cast<cudaTextureAddressMode>(it.address_modes[d]);
    texture.filterMode = static_cast<cudaTextureFilterMode>(it.filter);
    texture.readMode = it.normalizes_values ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    texture.sRGB = it.srgb;
    std::memcpy(texture.borderColor, it.border, sizeof it.border);
    texture.normalizedCoords = it.normalized_coordinates;
    texture.mipmapFilterMode = static_cast<cudaTextureFilterMode>(it.between_levels);
    texture.mipmapLevelBias = it.level_bias;
    texture.minMipmapLevelClamp = it.least_level;
    texture.maxMipmapLevelClamp = it.most_level;
    return texture;
}

template <class T>
cudaError_t fetch_to_host(cudaTextureObject_t texture, int function, const float *coordinates, int count, void *out) {
    T *device;
    TRY(cudaMalloc(&device, count * sizeof(T)));
    fetch_all<T><<<(count + 63) / 64, 64>>>(texture, function, coordinates, count, device);
    cudaError_t error = cudaMemcpy(out, device, count * sizeof(T), cudaMemcpyDeviceToHost);
    cudaFree(device);
    return error;
}

struct Rows {
    cudaSurfaceObject_t from, to;
    int width, height, depth, x_shift, y_shift;
};

// Copies texels from places beside those where they go, by elements of `T`.
template <class T, cudaSurfaceBoundaryMode mode>
__global__ void move_2d(Rows it) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= it.width) return;
    T value = surf2Dread<T>(it.from, (x + it.x_shift) * sizeof(T), y + it.y_shift, mode);
    surf2Dwrite(value, it.to, x * sizeof(T), y);
}

template <class T>
__global__ void move_other(Rows it, int geometry) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (x >= it.width) return;
    int from = (it.width - 1 - x) * sizeof(T), to = x * sizeof(T);
    if (geometry == 1) surf1Dwrite(surf1Dread<T>(it.from, from), it.to, to);
    if (geometry == 3) surf3Dwrite(surf3Dread<T>(it.from, from, y, z), it.to, to, y, z);
    if (geometry == 4) surf1DLayeredwrite(surf1DLayeredread<T>(it.from, from, z), it.to, to, z);
    if (geometry == 5) surf2DLayeredwrite(surf2DLayeredread<T>(it.from, from, y, z), it.to, to, y, z);
    if (geometry == 6) surfCubemapwrite(surfCubemapread<T>(it.from, from, y, z), it.to, to, y, z);
}

// `geometry` 2: shifted by (x, y) texels with a boundary mode; the others: mirrored along x.
template <class T>
void move_texels(const Rows &rows, int geometry, int boundary) {
    dim3 grid((rows.width + 31) / 32, rows.height, rows.depth);
    if (geometry != 2) move_other<T><<<grid, 32>>>(rows, geometry);
    else if (boundary == cudaBoundaryModeZero) move_2d<T, cudaBoundaryModeZero><<<grid, 32>>>(rows);
    else move_2d<T, cudaBoundaryModeClamp><<<grid, 32>>>(rows);
}

}  // namespace

// 4 words for each of the `count` fetches: floats, or integers of the texel's signedness.
extern "C" int run_fetches(const Case *it, const char *texels, const float *coordinates, int count, void *out) {
    Held held;
    TRY(make_resource(*it, texels, &held));
    cudaTextureDesc description = texture_of(*it);
    cudaTextureObject_t texture;
    TRY(cudaCreateTextureObject(&texture, &held.resource, &description, nullptr));
    float *places;
    TRY(cudaMalloc(&places, count * most_coordinates * sizeof(float)));
    TRY(cudaMemcpy(places, coordinates, count * most_coordinates * sizeof(float), cudaMemcpyHostToDevice));
    bool floats = it->kind == cudaChannelFormatKindFloat || it->normalizes_values;
    cudaError_t error = floats ? fetch_to_host<float4>(texture, it->function, places, count, out)
                        : it->kind == cudaChannelFormatKindSigned ? fetch_to_host<int4>(texture, it->function, places, count, out)
                                                                  : fetch_to_host<uint4>(texture, it->function, places, count, out);
    cudaFree(places);
    TRY(cudaDestroyTextureObject(texture));
    return error;
}

// `function` is the geometry; texels are moved from one array to another, which is copied to `out`.
extern "C" int run_surfaces(const Case *it, const char *texels, int x_shift, int y_shift, int boundary, void *out) {
    Held from, to;
    size_t width = it->width, height = at_least_1(it->height), depth = at_least_1(it->depth), texel = it->bits / 8 * it->channels;
    std::vector<char> zeros(width * height * depth * texel);
    TRY(make_resource(*it, texels, &from));
    TRY(make_resource(*it, zeros.data(), &to));
    Rows rows = {0, 0, it->width, static_cast<int>(height), static_cast<int>(depth), x_shift, y_shift};
    TRY(cudaCreateSurfaceObject(&rows.from, &from.resource));
    TRY(cudaCreateSurfaceObject(&rows.to, &to.resource));
    switch (texel) {
        case 1: move_texels<unsigned char>(rows, it->function, boundary); break;
        case 2: move_texels<ushort1>(rows, it->function, boundary); break;
        case 4: move_texels<uchar4>(rows, it->function, boundary); break;
        case 8: move_texels<float2>(rows, it->function, boundary); break;
        default: move_texels<uint4>(rows, it->function, boundary); break;
    }
    TRY(cudaDeviceSynchronize());
    cudaMemcpy3DParms copy = {};
    copy.srcArray = to.array;
    copy.dstPtr = make_cudaPitchedPtr(out, width * texel, width, height);
    copy.extent = make_cudaExtent(width, height, depth);
    copy.kind = cudaMemcpyDeviceToHost;
    TRY(cudaMemcpy3D(&copy));
    TRY(cudaDestroySurfaceObject(rows.from));
    return cudaDestroySurfaceObject(rows.to);
}
