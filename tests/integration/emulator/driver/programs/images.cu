// Arrays, textures and surfaces by the driver's API.
#include <cmath>
#include <cstring>
#include <vector>

#include "checked.cuh"

constexpr int width = 12, height = 5, layers = 3;

__global__ void fetch(CUtexObject texture, float* out) {
    int x = threadIdx.x, y = threadIdx.y;
    out[y * width + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}

__global__ void fetch_between(CUtexObject texture, float* out) {
    int x = threadIdx.x, y = threadIdx.y;
    out[y * width + x] = tex2D<float>(texture, (x + 1.0f) / width, (y + 0.5f) / height);
}

__global__ void fetch_integer(CUtexObject texture, float* out) {
    int x = threadIdx.x, y = threadIdx.y;
    out[y * width + x] = tex2D<unsigned char>(texture, x + 0.5f, y + 0.5f);
}

__global__ void fetch_layer(CUtexObject texture, float* out) {
    int x = threadIdx.x, y = threadIdx.y;
    out[y * width + x] = tex2DLayered<float>(texture, x + 0.5f, y + 0.5f, 2);
}

__global__ void fetch_linear(CUtexObject texture, float* out) {
    int i = threadIdx.y * width + threadIdx.x;
    out[i] = tex1Dfetch<float>(texture, i);
}

__global__ void fetch_level(CUtexObject texture, float* out) {
    int x = threadIdx.x, y = threadIdx.y;
    out[y * width + x] = tex2DLod<float>(texture, 0.5f, 0.5f, 1.0f);
}

__global__ void store(CUsurfObject surface) {
    int x = threadIdx.x, y = threadIdx.y;
    surf2Dwrite(100.0f * y + x, surface, x * static_cast<int>(sizeof(float)), y);
}

static float *device_out, out[height][width];

template <class Kernel>
static void run(Kernel kernel, CUtexObject texture) {
    kernel<<<1, dim3(width, height)>>>(texture, device_out);
    CHECK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(cuTexObjectDestroy(texture));
}

template <class Expected>
static void compare(const char* what, Expected expected) {
    int wrong = 0;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) wrong += std::fabs(out[y][x] - expected(x, y)) > 1e-6f;
    }
    std::printf("%s: %d wrong\n", what, wrong);
}

static CUtexObject texture_of(const CUDA_RESOURCE_DESC& resource, unsigned flags, CUfilter_mode filter = CU_TR_FILTER_MODE_POINT) {
    CUDA_TEXTURE_DESC description = {};
    for (auto& mode : description.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
    description.filterMode = description.mipmapFilterMode = filter;
    description.flags = flags;
    description.maxMipmapLevelClamp = 10;
    CUtexObject texture;
    CHECK(cuTexObjectCreate(&texture, &resource, &description, nullptr));
    CUDA_TEXTURE_DESC given;
    CUDA_RESOURCE_DESC of;
    CHECK(cuTexObjectGetTextureDesc(&given, texture));
    CHECK(cuTexObjectGetResourceDesc(&of, texture));
    if (given.flags != flags || given.filterMode != filter || given.addressMode[1] != CU_TR_ADDRESS_MODE_CLAMP)
        std::printf("another description\n");
    if (of.resType != resource.resType || of.res.array.hArray != resource.res.array.hArray) std::printf("another resource\n");
    return texture;
}

static CUDA_RESOURCE_DESC resource_of(CUarray array) {
    CUDA_RESOURCE_DESC resource = {};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    return resource;
}

static float number(int x, int y) { return 10.0f * y + x; }

static std::vector<float> numbers() {
    std::vector<float> all;
    for (int i = 0; i < width * height; ++i) all.push_back(number(i % width, i / width));
    return all;
}

static void flat() {
    CUDA_ARRAY_DESCRIPTOR description = {width, height, CU_AD_FORMAT_FLOAT, 1}, same;
    CUarray array, copy;
    CHECK(cuArrayCreate(&array, &description));
    CHECK(cuArrayCreate(&copy, &description));
    CHECK(cuArrayGetDescriptor(&same, array));
    std::printf("%zu x %zu, %u of %d\n", same.Width, same.Height, same.NumChannels, same.Format);
    auto values = numbers();
    CUDA_MEMCPY2D rows = {};
    rows.srcMemoryType = CU_MEMORYTYPE_HOST;
    rows.srcHost = values.data();
    rows.srcPitch = rows.WidthInBytes = width * sizeof(float);
    rows.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    rows.dstArray = array;
    rows.Height = height;
    CHECK(cuMemcpy2D(&rows));
    run(fetch, texture_of(resource_of(array), 0));
    compare("points", number);
    run(fetch_between, texture_of(resource_of(array), CU_TRSF_NORMALIZED_COORDINATES, CU_TR_FILTER_MODE_LINEAR));
    compare("between points", [](int x, int y) { return number(x, y) + (x < width - 1 ? 0.5f : 0.0f); });

    // Bytes, from a place in the second row on.
    size_t offset = (width + 2) * sizeof(float), size = (width * height - 20) * sizeof(float);
    std::vector<float> back(width * height, -1);
    CHECK(cuMemcpyHtoA(copy, 0, back.data(), back.size() * sizeof(float)));
    CHECK(cuMemcpyAtoA(copy, offset, array, offset, size));
    CHECK(cuMemcpyAtoH(back.data(), copy, 0, back.size() * sizeof(float)));
    int wrong = 0;
    for (size_t i = 0; i < back.size(); ++i) {
        bool is_copied = i * sizeof(float) >= offset && i * sizeof(float) < offset + size;
        wrong += back[i] != (is_copied ? values[i] : -1);
    }
    CUdeviceptr memory;
    CHECK(cuMemAlloc(&memory, size));
    CHECK(cuMemcpyAtoD(memory, array, offset, size));
    CHECK(cuMemsetD32(memory, 0, 1));
    CHECK(cuMemcpyDtoA(copy, offset, memory, size));
    CHECK(cuMemcpyAtoHAsync(back.data(), copy, offset, size, nullptr));
    CHECK(cuCtxSynchronize());
    wrong += back[0] != 0;
    for (size_t i = 1; i < size / sizeof(float); ++i) wrong += back[i] != values[width + 2 + i];
    std::printf("copies: %d wrong\n", wrong);
    CHECK(cuMemFree(memory));
    CHECK(cuArrayDestroy(copy));
    CHECK(cuArrayDestroy(array));
}

static void bytes() {
    CUDA_ARRAY_DESCRIPTOR description = {width, height, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    CUarray array;
    CHECK(cuArrayCreate(&array, &description));
    std::vector<unsigned char> values;
    for (int i = 0; i < width * height; ++i) values.push_back(static_cast<unsigned char>(4 * i));
    CHECK(cuMemcpyHtoA(array, 0, values.data(), values.size()));
    run(fetch, texture_of(resource_of(array), 0));
    compare("fractions", [](int x, int y) { return 4 * (y * width + x) / 255.0f; });
    run(fetch_integer, texture_of(resource_of(array), CU_TRSF_READ_AS_INTEGER));
    compare("integers", [](int x, int y) { return 4.0f * (y * width + x); });
    CHECK(cuArrayDestroy(array));
}

static void memory() {
    CUdeviceptr values;
    size_t pitch;
    auto all = numbers();
    CHECK(cuMemAllocPitch(&values, &pitch, width * sizeof(float), height, 4));
    CHECK(cudaMemcpy2D(reinterpret_cast<void*>(values), pitch, all.data(), width * sizeof(float), width * sizeof(float), height,
                       cudaMemcpyHostToDevice));
    CUDA_RESOURCE_DESC resource = {};
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D = {values, CU_AD_FORMAT_FLOAT, 1, width, height, pitch};
    run(fetch, texture_of(resource, 0));
    compare("rows of memory", number);
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear = {values, CU_AD_FORMAT_FLOAT, 1, width * height * sizeof(float)};
    CHECK(cuMemcpyHtoD(values, all.data(), all.size() * sizeof(float)));
    run(fetch_linear, texture_of(resource, CU_TRSF_READ_AS_INTEGER));
    compare("linear memory", number);
    CHECK(cuMemFree(values));
}

static void layered_and_stored() {
    CUDA_ARRAY3D_DESCRIPTOR description = {width, height, layers, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED}, same;
    CUarray array;
    CHECK(cuArray3DCreate(&array, &description));
    CHECK(cuArray3DGetDescriptor(&same, array));
    std::printf("%zu layers, flags %u\n", same.Depth, same.Flags);
    auto values = numbers();
    CUDA_MEMCPY3D box = {};
    box.srcMemoryType = CU_MEMORYTYPE_HOST;
    box.srcHost = values.data();
    box.srcPitch = box.WidthInBytes = width * sizeof(float);
    box.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    box.dstArray = array;
    box.dstZ = 2;
    box.Height = height;
    box.Depth = 1;
    CHECK(cuMemcpy3D(&box));
    run(fetch_layer, texture_of(resource_of(array), 0));
    compare("a layer", number);
    CHECK(cuArrayDestroy(array));

    description = {width, height, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CHECK(cuArray3DCreate(&array, &description));
    CUDA_RESOURCE_DESC resource = resource_of(array);
    CUsurfObject surface;
    CHECK(cuSurfObjectCreate(&surface, &resource));
    store<<<1, dim3(width, height)>>>(surface);
    CHECK(cuMemcpyAtoH(out, array, 0, sizeof out));
    compare("stores", [](int x, int y) { return 100.0f * y + x; });
    CHECK(cuSurfObjectDestroy(surface));
    CHECK(cuArrayDestroy(array));
}

static void levels() {
    CUDA_ARRAY3D_DESCRIPTOR description = {4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUmipmappedArray array;
    CHECK(cuMipmappedArrayCreate(&array, &description, 2));
    for (unsigned i = 0; i < 2; ++i) {
        CUarray level;
        std::vector<float> values(16, 1.0f + i);
        CHECK(cuMipmappedArrayGetLevel(&level, array, i));
        CHECK(cuMemcpyHtoA(level, 0, values.data(), (i ? 4 : 16) * sizeof(float)));
    }
    CUDA_RESOURCE_DESC resource = {};
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = array;
    run(fetch_level, texture_of(resource, CU_TRSF_NORMALIZED_COORDINATES));
    compare("the second level", [](int, int) { return 2.0f; });
    CHECK(cuMipmappedArrayDestroy(array));
}

static void misuse() {
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR three = {width, height, CU_AD_FORMAT_FLOAT, 3}, planes = {width, height, CU_AD_FORMAT_NV12, 1},
                          integers = {width, height, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    SAY(cuArrayCreate(&array, &three));
    SAY(cuArrayCreate(&array, &planes));
    CHECK(cuArrayCreate(&array, &integers));
    float value = 0;
    SAY(cuMemcpyHtoA(array, (width * height - 1) * sizeof value, &value, 2 * sizeof value));
    CUDA_TEXTURE_DESC linear = {};
    linear.filterMode = CU_TR_FILTER_MODE_LINEAR;
    CUDA_RESOURCE_DESC resource = resource_of(array);
    CUtexObject texture;
    CUsurfObject surface;
    SAY(cuTexObjectCreate(&texture, &resource, &linear, nullptr));
    SAY(cuSurfObjectCreate(&surface, &resource));
    CUDA_RESOURCE_VIEW_DESC view = {};
    view.format = CU_RES_VIEW_FORMAT_UINT_1X32;
    SAY(cuTexObjectCreate(&texture, &resource, &linear, &view));
    CHECK(cuArrayDestroy(array));
    SAY(cuArrayDestroy(array));
    SAY(cuTexObjectDestroy(12345));
}

int main(int argc, char** argv) {
    CHECK(cudaMalloc(&device_out, sizeof out));
    if (argc > 1) {
        misuse();
    } else {
        flat();
        bytes();
        memory();
        layered_and_stored();
        levels();
    }
    CHECK(cudaFree(device_out));
}
