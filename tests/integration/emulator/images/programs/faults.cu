// Textures and surfaces used wrongly, and the calls about arrays. Each function returns the error of the first call that fails.

#include <cuda_runtime.h>

#include <cstring>

#define TRY(call) \
    if (cudaError_t error_ = (call)) return error_

__global__ void fetch(cudaTextureObject_t texture, float *out) {
    out[threadIdx.x] = tex2D<float>(texture, threadIdx.x, 0);  // fetch
}

__global__ void fetch_linear(cudaTextureObject_t texture, float *out) {
    out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);  // fetch linear
}

__global__ void write_past(cudaSurfaceObject_t surface) {
    surf2Dwrite(1.0f, surface, (threadIdx.x + 40) * 4, 0);  // write past
}

__global__ void read_past(cudaSurfaceObject_t surface, float *out) {
    out[threadIdx.x] = surf2Dread<float>(surface, threadIdx.x * 4, threadIdx.x);  // read past
}

__global__ void write_racing(cudaSurfaceObject_t surface) {
    surf2Dwrite(static_cast<float>(threadIdx.x), surface, 0, 0);  // race
}

__global__ void write_right(cudaSurfaceObject_t surface) {
    surf2Dwrite(static_cast<float>(threadIdx.x), surface, threadIdx.x * 4, blockIdx.x);
}

namespace {

struct Image {
    cudaArray_t array = nullptr;
    cudaTextureObject_t texture = 0;
    cudaSurfaceObject_t surface = 0;
};

cudaError_t make(Image *image, int width, int height) {
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    TRY(cudaMallocArray(&image->array, &format, width, height, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = image->array;
    cudaTextureDesc texture = {};
    TRY(cudaCreateTextureObject(&image->texture, &resource, &texture, nullptr));
    return cudaCreateSurfaceObject(&image->surface, &resource);
}

cudaError_t drop(const Image &image) {
    TRY(cudaDestroyTextureObject(image.texture));
    TRY(cudaDestroySurfaceObject(image.surface));
    return cudaFreeArray(image.array);
}

}  // namespace

extern "C" int run_destroyed(float *out) {
    Image image;
    TRY(make(&image, 32, 8));
    TRY(cudaDestroyTextureObject(image.texture));
    fetch<<<1, 32>>>(image.texture, out);
    return cudaDeviceSynchronize();
}

extern "C" int run_wrong_kind(float *out) {
    Image image;
    TRY(make(&image, 32, 8));
    fetch<<<1, 32>>>(image.surface, out);
    return cudaDeviceSynchronize();
}

extern "C" int run_freed_array(float *out) {
    Image image;
    TRY(make(&image, 32, 8));
    TRY(cudaFreeArray(image.array));
    fetch<<<1, 32>>>(image.texture, out);
    return cudaDeviceSynchronize();
}

extern "C" int run_freed_linear(float *out) {
    float *memory;
    TRY(cudaMalloc(&memory, 128));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {memory, cudaCreateChannelDesc<float>(), 128};
    cudaTextureDesc description = {};
    cudaTextureObject_t texture;
    TRY(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    TRY(cudaFree(memory));
    fetch_linear<<<1, 32>>>(texture, out);
    return cudaDeviceSynchronize();
}

extern "C" int run_unwritten(float *out) {
    Image image;
    TRY(make(&image, 32, 8));
    fetch<<<1, 32>>>(image.texture, out);
    TRY(cudaDeviceSynchronize());
    return drop(image);
}

extern "C" int run_write_past() {
    Image image;
    TRY(make(&image, 64, 8));
    write_past<<<1, 32>>>(image.surface);
    return cudaDeviceSynchronize();
}

extern "C" int run_read_past(float *out) {
    Image image;
    TRY(make(&image, 64, 8));
    read_past<<<1, 32>>>(image.surface, out);
    return cudaDeviceSynchronize();
}

extern "C" int run_racing() {
    Image image;
    TRY(make(&image, 64, 8));
    write_racing<<<2, 64>>>(image.surface);
    TRY(cudaDeviceSynchronize());
    return drop(image);
}

// What a surface wrote a texture reads, in the next launch.
extern "C" int run_right(float *out) {
    Image image;
    TRY(make(&image, 32, 8));
    write_right<<<8, 32>>>(image.surface);
    fetch<<<1, 32>>>(image.texture, out);
    TRY(cudaDeviceSynchronize());
    return drop(image);
}

// The number of a call that answers other than it should; 0: none does.
extern "C" int run_calls() {
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>(), got;
    cudaArray_t array, flat, layered;
    cudaExtent extent;
    unsigned flags;
    if (cudaMallocArray(&array, &format, 6, 4, cudaArraySurfaceLoadStore)) return 1;
    if (cudaArrayGetInfo(&got, &extent, &flags, array)) return 2;
    if (extent.width != 6 || extent.height != 4 || extent.depth || flags != cudaArraySurfaceLoadStore) return 3;
    if (std::memcmp(&got, &format, sizeof got)) return 4;
    if (cudaMallocArray(&flat, &format, 6, 0)) return 5;
    if (cudaMalloc3DArray(&layered, &format, make_cudaExtent(6, 0, 3), cudaArrayLayered)) return 6;
    float2 in[24], out[24] = {};
    for (int i = 0; i < 24; ++i) in[i] = make_float2(i, -i);
    if (cudaMemcpy2DToArray(array, 0, 0, in, 48, 48, 4, cudaMemcpyHostToDevice)) return 10;
    if (cudaMemcpy2DFromArray(out, 16, array, 16, 1, 16, 3, cudaMemcpyDeviceToHost)) return 11;
    for (int i = 0; i < 6; ++i) {
        if (out[i].x != (i / 2 + 1) * 6 + 2 + i % 2) return 12;
    }
    // One past the end, each way.
    if (cudaMemcpy2DToArray(array, 8, 0, in, 48, 48, 1, cudaMemcpyHostToDevice) != cudaErrorInvalidValue) return 13;
    if (cudaMemcpy2DToArray(array, 0, 1, in, 48, 48, 4, cudaMemcpyHostToDevice) != cudaErrorInvalidValue) return 14;
    if (cudaMemcpy2DArrayToArray(flat, 0, 0, array, 0, 2, 48, 1)) return 15;
    if (cudaMemcpy2DFromArray(out, 48, flat, 0, 0, 48, 1, cudaMemcpyDeviceToHost) || out[5].y != -17) return 16;
    cudaMemcpy3DParms copy = {};
    copy.srcArray = array;
    copy.srcPos = make_cudaPos(1, 3, 0);
    copy.dstArray = layered;
    copy.dstPos = make_cudaPos(0, 0, 2);
    copy.extent = make_cudaExtent(5, 1, 1);
    copy.kind = cudaMemcpyDeviceToDevice;
    if (cudaMemcpy3D(&copy)) return 17;
    copy.dstPos.z = 3;
    if (cudaMemcpy3D(&copy) != cudaErrorInvalidValue) return 18;
    // GPUs ask no flag of an array that has a surface.
    cudaResourceDesc resource = {}, found;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = flat;
    cudaSurfaceObject_t surface;
    if (cudaCreateSurfaceObject(&surface, &resource) || cudaDestroySurfaceObject(surface)) return 20;
    format = cudaCreateChannelDesc<int>();
    cudaArray_t integers;
    if (cudaMallocArray(&integers, &format, 6, 4)) return 21;
    resource.res.array.array = integers;
    cudaTextureDesc description = {}, described;
    description.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t texture;
    if (!cudaCreateTextureObject(&texture, &resource, &description, nullptr)) return 22;
    description.filterMode = cudaFilterModePoint;
    description.readMode = cudaReadModeNormalizedFloat;
    if (!cudaCreateTextureObject(&texture, &resource, &description, nullptr)) return 23;
    description.readMode = cudaReadModeElementType;
    if (cudaCreateTextureObject(&texture, &resource, &description, nullptr)) return 24;
    if (cudaGetTextureObjectResourceDesc(&found, texture) || found.res.array.array != integers) return 25;
    if (cudaGetTextureObjectTextureDesc(&described, texture) || described.readMode != cudaReadModeElementType) return 26;
    if (cudaDestroyTextureObject(texture)) return 27;
    format = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
    if (cudaMallocArray(&integers, &format, 6, 4) != cudaErrorInvalidChannelDescriptor) return 28;
    if (cudaFreeArray(array) || cudaFreeArray(flat) || cudaFreeArray(layered)) return 29;
    cudaMipmappedArray_t mipmapped;
    format = cudaCreateChannelDesc<uchar4>();
    if (cudaMallocMipmappedArray(&mipmapped, &format, make_cudaExtent(20, 9, 0), 3)) return 30;
    if (cudaGetMipmappedArrayLevel(&array, mipmapped, 2)) return 31;
    if (cudaArrayGetInfo(nullptr, &extent, nullptr, array) || extent.width != 5 || extent.height != 2) return 32;
    if (cudaGetMipmappedArrayLevel(&array, mipmapped, 3) != cudaErrorInvalidValue) return 33;
    return cudaFreeMipmappedArray(mipmapped) ? 34 : 0;
}
