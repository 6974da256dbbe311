// The runtime API as programs use it. Each function returns 0, or the line of the first thing that is not as it should be;
// what is expected was seen on an H200 (driver 580, CUDA 13.0), but for the errors of bad launch shapes (see README.md).
#include <cstdint>
#include <cstring>

#include <cuda_runtime.h>

#define CHECK(call)                     \
    do {                                \
        if ((call) != cudaSuccess) return __LINE__; \
    } while (0)
#define FAILS(call, error)              \
    do {                                \
        if ((call) != (error)) return __LINE__; \
        cudaGetLastError();             \
    } while (0)
#define THAT(condition)                 \
    do {                                \
        if (!(condition)) return __LINE__; \
    } while (0)

__device__ float table[4] = {1, 2, 3, 4};
__constant__ int coefficients[8];
__device__ const char* text = "hello";
__managed__ int managed = 7;

__global__ void use(int* out) { out[threadIdx.x] = coefficients[threadIdx.x & 7] + (int)table[0] + managed; }
__global__ void increment(int* value) { atomicAdd(value, 1); }
__global__ void twice(int* value) { *value *= 2; }
__global__ void __launch_bounds__(64) bounded(int* out) { out[threadIdx.x] = 1; }
__global__ void with_static(int* out) {
    __shared__ int values[1024];
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = values[31 - threadIdx.x];
}

extern "C" int devices() {
    int count, device, value;
    CHECK(cudaGetDeviceCount(&count));
    THAT(count == 1);
    CHECK(cudaGetDevice(&device));
    THAT(device == 0);
    FAILS(cudaSetDevice(1), cudaErrorInvalidDevice);
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    THAT(properties.major == 8 && properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024);
    THAT(std::strlen(properties.name) > 0 && properties.multiProcessorCount > 0 && properties.totalGlobalMem > 0);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    THAT(value == properties.multiProcessorCount);
    THAT(properties.persistingL2CacheMaxSize > 0 && properties.persistingL2CacheMaxSize < properties.l2CacheSize);
    CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, properties.persistingL2CacheMaxSize));
    CHECK(cudaCtxResetPersistingL2Cache());
    FAILS(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0), cudaErrorInvalidValue);
    CHECK(cudaDeviceCanAccessPeer(&value, 0, 0));
    THAT(value == 0);
    size_t free_bytes, total;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    THAT(free_bytes <= total && total == properties.totalGlobalMem);
    THAT(!std::strcmp(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered"));
    THAT(!std::strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress"));
    return 0;
}

extern "C" int symbols() {
    float got[4] = {};
    CHECK(cudaMemcpyFromSymbol(got, table, 16));
    THAT(got[0] == 1 && got[3] == 4);
    float put[2] = {9, 8};
    CHECK(cudaMemcpyToSymbol(table, put, 8, 8));
    CHECK(cudaMemcpyFromSymbol(got, table, 16));
    THAT(got[1] == 2 && got[2] == 9 && got[3] == 8);
    FAILS(cudaMemcpyToSymbol(table, put, 8, 12), cudaErrorInvalidValue);
    FAILS(cudaMemcpyToSymbol(&got, put, 8), cudaErrorInvalidSymbol);
    size_t size;
    CHECK(cudaGetSymbolSize(&size, coefficients));
    THAT(size == 32);
    void* address;
    CHECK(cudaGetSymbolAddress(&address, table));
    CHECK(cudaMemcpy(got, address, 16, cudaMemcpyDeviceToHost));
    THAT(got[2] == 9);
    const char* pointer;
    char copy[6];
    CHECK(cudaMemcpyFromSymbol(&pointer, text, sizeof pointer));
    CHECK(cudaMemcpy(copy, pointer, 6, cudaMemcpyDeviceToHost));
    THAT(!std::strcmp(copy, "hello"));
    THAT(managed == 7);
    managed = 30;
    int ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, sums[32], *out;
    CHECK(cudaMemcpyToSymbol(coefficients, ones, sizeof ones));
    CHECK(cudaMalloc(&out, sizeof sums));
    use<<<1, 32>>>(out);
    CHECK(cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost));
    THAT(sums[0] == 32 && sums[31] == 32);
    CHECK(cudaFree(out));
    return 0;
}

extern "C" int memory() {
    char *a, *b, host[4096] = {};
    CHECK(cudaMalloc(&a, 1000));
    CHECK(cudaMalloc(&b, 1000));
    THAT(((uintptr_t)a & 255) == 0);
    CHECK(cudaMemset(a, 3, 1000));
    CHECK(cudaMemcpy(b, a, 1000, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(host, b, 1000, cudaMemcpyDefault));
    THAT(host[0] == 3 && host[999] == 3);
    FAILS(cudaMemset(a, 1, 1001), cudaErrorInvalidValue);
    FAILS(cudaMemset(host, 1, 8), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(host, a, 1001, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(host, host, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(a, host, 8, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(host, a, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(a, host, 8, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemcpy(a, b, 8, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDeviceToHost));
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, a + 10));
    THAT(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == a + 10);
    CHECK(cudaPointerGetAttributes(&attributes, host));
    THAT(attributes.type == cudaMemoryTypeUnregistered);
    CHECK(cudaFree(a));
    FAILS(cudaFree(a), cudaErrorInvalidValue);
    FAILS(cudaFree(host), cudaErrorInvalidValue);
    CHECK(cudaFree(nullptr));
    void* none = host;
    CHECK(cudaMalloc(&none, 0));
    THAT(none == nullptr);
    none = host;
    FAILS(cudaMalloc(&none, 1ull << 50), cudaErrorMemoryAllocation);
    THAT(none == nullptr);
    void *pinned, *alias;
    CHECK(cudaMallocHost(&pinned, 64));
    CHECK(cudaHostGetDevicePointer(&alias, pinned, 0));
    THAT(alias == pinned);
    CHECK(cudaPointerGetAttributes(&attributes, pinned));
    THAT(attributes.type == cudaMemoryTypeHost);
    increment<<<1, 5>>>((int*)pinned);
    CHECK(cudaDeviceSynchronize());
    THAT(*(int*)pinned == 5);
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaHostRegister(host, sizeof host, cudaHostRegisterMapped));
    FAILS(cudaHostRegister(host, sizeof host, 0), cudaErrorHostMemoryAlreadyRegistered);
    CHECK(cudaHostUnregister(host));
    FAILS(cudaHostUnregister(host), cudaErrorHostMemoryNotRegistered);
    CHECK(cudaFree(b));
    return 0;
}

extern "C" int rows() {
    char *device, host[10][50];
    size_t pitch;
    CHECK(cudaMallocPitch(&device, &pitch, 100, 10));
    THAT(pitch >= 100);
    for (int row = 0; row < 10; ++row) std::memset(host[row], row, 50);
    CHECK(cudaMemcpy2DAsync(device, pitch, host, 50, 50, 10, cudaMemcpyHostToDevice));
    std::memset(host, 99, sizeof host);
    CHECK(cudaMemcpy2D(host, 50, device, pitch, 50, 10, cudaMemcpyDeviceToHost));
    THAT(host[0][0] == 0 && host[3][49] == 3 && host[9][49] == 9);
    FAILS(cudaMemcpy2D(device, 10, host, 50, 50, 10, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
    CHECK(cudaMemset2D(device, pitch, 77, 20, 10));
    CHECK(cudaMemcpy2D(host, 50, device, pitch, 50, 10, cudaMemcpyDeviceToHost));
    THAT(host[9][19] == 77 && host[9][20] == 9);
    CHECK(cudaFree(device));
    cudaPitchedPtr box;
    CHECK(cudaMalloc3D(&box, make_cudaExtent(8, 4, 2)));
    char small[2][4][8];
    std::memset(small, 6, sizeof small);
    small[1][3][7] = 9;
    cudaMemcpy3DParms parameters = {};
    parameters.srcPtr = make_cudaPitchedPtr(small, 8, 8, 4);
    parameters.dstPtr = box;
    parameters.extent = make_cudaExtent(8, 4, 2);
    parameters.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&parameters));
    char last;
    CHECK(cudaMemcpy(&last, (char*)box.ptr + box.pitch * 7 + 7, 1, cudaMemcpyDeviceToHost));
    THAT(last == 9);
    CHECK(cudaFree(box.ptr));
    return 0;
}

// Sizes whose products and sums do not fit into an address.
extern "C" int extents() {
    constexpr size_t huge = ~size_t{0}, half = size_t{1} << 32;
    char *device, host[64] = {};
    CHECK(cudaMalloc(&device, 4096));
    for (auto kind : {cudaMemcpyDeviceToDevice, cudaMemcpyDefault}) {
        FAILS(cudaMemcpy2D(device, huge, device, huge, 16, huge, kind), cudaErrorInvalidValue);
        FAILS(cudaMemcpy2D(device, huge, device, huge, 16, 2, kind), cudaErrorInvalidValue);
        FAILS(cudaMemcpy2D(device, half, device, half, 16, half + 1, kind), cudaErrorInvalidValue);
        FAILS(cudaMemcpy2DAsync(device, huge / 2, device, huge / 2, 16, 3, kind), cudaErrorInvalidValue);
        FAILS(cudaMemcpy(device, device, huge, kind), cudaErrorInvalidValue);
    }
    FAILS(cudaMemcpy2D(device, 64, host, huge, 16, 2, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy2D(host, huge, device, 64, 16, 2, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    FAILS(cudaMemset2D(device, huge, 1, 16, huge), cudaErrorInvalidValue);
    FAILS(cudaMemset2D(device, half, 1, 16, half + 1), cudaErrorInvalidValue);
    FAILS(cudaMemset(device, 1, huge), cudaErrorInvalidValue);
    cudaMemcpy3DParms parameters = {};
    parameters.srcPtr = parameters.dstPtr = make_cudaPitchedPtr(device, half, 16, half);
    parameters.extent = make_cudaExtent(16, half, half);
    parameters.kind = cudaMemcpyDeviceToDevice;
    FAILS(cudaMemcpy3D(&parameters), cudaErrorInvalidValue);
    parameters.srcPtr.pitch = parameters.dstPtr.pitch = 8;
    FAILS(cudaMemcpy3D(&parameters), cudaErrorInvalidPitchValue);
    parameters.srcPtr = parameters.dstPtr = make_cudaPitchedPtr(device, 64, 64, 0);
    parameters.extent = make_cudaExtent(16, 1, huge);
    FAILS(cudaMemcpy3D(&parameters), cudaErrorInvalidValue);
    FAILS(cudaMemset3D(make_cudaPitchedPtr(device, 64, 64, 0), 1, parameters.extent), cudaErrorInvalidValue);
    FAILS(cudaMemset3D(make_cudaPitchedPtr(device, half, 16, half - 1), 1, make_cudaExtent(16, half, half)), cudaErrorInvalidValue);
    cudaGraph_t graph;
    cudaGraphNode_t node;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams fill = {};
    fill.dst = device;
    fill.elementSize = 4;
    fill.width = huge / 4 + 2;
    fill.height = 1;
    FAILS(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &fill), cudaErrorInvalidValue);
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaMemcpy2D(device, huge, device + 64, huge, 16, 1, cudaMemcpyDeviceToDevice));
    CHECK(cudaFree(device));
    return 0;
}

static void CUDART_CB add_ten(void* value) { *static_cast<int*>(value) += 10; }

extern "C" int streams() {
    cudaStream_t stream;
    cudaEvent_t begin, end;
    float ms = -1;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    FAILS(cudaEventElapsedTime(&ms, begin, end), cudaErrorInvalidResourceHandle);
    CHECK(cudaEventQuery(begin));
    int *value, host = 0;
    CHECK(cudaMallocAsync(&value, sizeof(int), stream));
    CHECK(cudaMemsetAsync(value, 0, sizeof(int), stream));
    CHECK(cudaEventRecord(begin, stream));
    increment<<<2, 50, 0, stream>>>(value);
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaStreamWaitEvent(0, end));
    CHECK(cudaMemcpyAsync(&host, value, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(stream, add_ten, &host));
    CHECK(cudaStreamSynchronize(stream));
    THAT(host == 110);
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    THAT(ms >= 0);
    CHECK(cudaFreeAsync(value, stream));
    CHECK(cudaFreeAsync(nullptr, stream));
    CHECK(cudaStreamDestroy(stream));
    FAILS(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    cudaMemPool_t pool;
    uint64_t threshold = ~0ull;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    threshold = 0;
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    THAT(threshold == ~0ull);
    return 0;
}

extern "C" int configurations() {
    int* out;
    CHECK(cudaMalloc(&out, 4096));
    use<<<1, 0>>>(out);
    FAILS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    use<<<0, 32>>>(out);
    FAILS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    use<<<1, 1025>>>(out);
    FAILS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    use<<<dim3(1, 65536), 1>>>(out);
    FAILS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    use<<<1, 32, 50000>>>(out);
    FAILS(cudaGetLastError(), cudaErrorInvalidValue);
    bounded<<<1, 65>>>(out);
    FAILS(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK(cudaDeviceSynchronize());
    FAILS(cudaLaunchKernel((void*)out, dim3(1), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidResourceHandle);
    FAILS(cudaLaunchCooperativeKernel((void*)use, 1 << 20, 256, (void**)&out, 0, 0), cudaErrorCooperativeLaunchTooLarge);
    CHECK(cudaFuncSetAttribute(use, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    FAILS(cudaFuncSetAttribute(use, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000), cudaErrorInvalidValue);
    // What is asked for counts without static memory, also where it is less than 48 KiB; and asking for little takes nothing away.
    int asked = (48 << 10) - 1024;
    with_static<<<1, 32, asked>>>(out);
    FAILS(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(with_static, cudaFuncAttributeMaxDynamicSharedMemorySize, asked));
    with_static<<<1, 32, asked>>>(out);
    CHECK(cudaGetLastError());
    with_static<<<1, 32, asked + 1>>>(out);
    FAILS(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(with_static, cudaFuncAttributeMaxDynamicSharedMemorySize, 16));
    with_static<<<1, 32, 32 << 10>>>(out);
    CHECK(cudaGetLastError());
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, use));
    THAT(attributes.maxDynamicSharedSizeBytes == 100000 && attributes.ptxVersion == 80);
    CHECK(cudaFuncGetAttributes(&attributes, bounded));
    THAT(attributes.maxThreadsPerBlock == 64);
    int blocks, threads;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, use, 256, 0));
    THAT(blocks == 8);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, use, 0, 0));
    THAT(threads == 1024);
    // An error that is not sticky stays until somebody asks for it, whatever succeeds in between.
    use<<<1, 1025>>>(out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(out));
    THAT(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
    THAT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    THAT(cudaGetLastError() == cudaSuccess);
    return 0;
}

extern "C" int graphs() {
    cudaStream_t stream, other;
    cudaEvent_t forked, joined;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    int *value, host = -1;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&other));
    CHECK(cudaEventCreate(&forked));
    CHECK(cudaEventCreate(&joined));
    CHECK(cudaMalloc(&value, sizeof(int)));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(value, 0, sizeof(int), stream));
    increment<<<1, 3, 0, stream>>>(value);
    CHECK(cudaEventRecord(forked, stream));
    CHECK(cudaStreamWaitEvent(other, forked));
    twice<<<1, 1, 0, other>>>(value);
    CHECK(cudaEventRecord(joined, other));
    CHECK(cudaStreamWaitEvent(stream, joined));
    increment<<<1, 4, 0, stream>>>(value);
    CHECK(cudaMemcpyAsync(&host, value, sizeof(int), cudaMemcpyDeviceToHost, stream));
    THAT(host == -1);
    CHECK(cudaStreamEndCapture(stream, &graph));
    THAT(host == -1);
    size_t nodes;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    THAT(nodes == 5);
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    for (int round = 0; round < 2; ++round) {
        host = -1;
        CHECK(cudaGraphLaunch(executable, stream));
        CHECK(cudaStreamSynchronize(stream));
        THAT(host == 10);
    }
    CHECK(cudaGraphExecDestroy(executable));

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    void* more;
    FAILS(cudaMalloc(&more, 8), cudaErrorStreamCaptureUnsupported);
    FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);

    // By hand: the dependencies decide, not the order in which the nodes were made.
    cudaGraphNode_t doubling, adding, clearing;
    void* arguments[] = {&value};
    cudaKernelNodeParams kernel = {};
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(1);
    kernel.kernelParams = arguments;
    kernel.func = (void*)twice;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&doubling, graph, nullptr, 0, &kernel));
    kernel.func = (void*)increment;
    kernel.blockDim = dim3(6);
    CHECK(cudaGraphAddKernelNode(&adding, graph, nullptr, 0, &kernel));
    cudaMemsetParams clear = {};
    clear.dst = value;
    clear.elementSize = 4;
    clear.width = 1;
    clear.height = 1;
    clear.value = 1;
    CHECK(cudaGraphAddMemsetNode(&clearing, graph, nullptr, 0, &clear));
    CHECK(cudaGraphAddDependencies(graph, &clearing, &adding, nullptr, 1));
    CHECK(cudaGraphAddDependencies(graph, &adding, &doubling, nullptr, 1));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaMemcpy(&host, value, sizeof(int), cudaMemcpyDeviceToHost));
    THAT(host == 14);
    kernel.blockDim = dim3(9);
    CHECK(cudaGraphExecKernelNodeSetParams(executable, adding, &kernel));
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaMemcpy(&host, value, sizeof(int), cudaMemcpyDeviceToHost));
    THAT(host == 20);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(value));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(other));
    return 0;
}

// After an error that breaks the context every call fails with it, but cudaGetLastError tells it once.
extern "C" int after_a_sticky_error(int error) {
    void* more;
    THAT(cudaGetLastError() == error);
    THAT(cudaGetLastError() == cudaSuccess);
    THAT(cudaMalloc(&more, 8) == error);
    THAT(cudaDeviceSynchronize() == error);
    use<<<1, 32>>>(nullptr);
    THAT(cudaGetLastError() == error);
    THAT(cudaMalloc(&more, 8) == error);
    return 0;
}

extern "C" int refused() {
    cudaIpcMemHandle_t handle;
    FAILS(cudaIpcGetMemHandle(&handle, nullptr), cudaErrorNotSupported);
    return 0;
}
