// What the runtime API answers: a line for each question, "name: error values". answers.txt has those that are right.
// The argument is the part to run: each has a process of its own, so that none takes others along.
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

using Values = std::initializer_list<long long>;

static void tell(const char* name, cudaError_t error, Values values = {}) {
    std::printf("%s: %s", name, cudaGetErrorName(error));
    for (long long value : values) std::printf(" %lld", value);
    std::printf("\n");
    std::fflush(stdout);
    cudaGetLastError();
}

// The values are looked at after the call.
#define say(name, call, ...)                                    \
    do {                                                        \
        cudaError_t error_of_call = (call);                     \
        tell(name, error_of_call __VA_OPT__(, ) __VA_ARGS__);   \
    } while (0)

// For what a launch gives.
static void say_last(const char* name) { tell(name, cudaGetLastError()); }

__global__ void add(int* value, int by) { atomicAdd(value, by); }
__global__ void __launch_bounds__(64) bounded(int* value) { *value = 1; }
__global__ void with_shared(int* value) {
    __shared__ int fixed[100];
    extern __shared__ int sized[];
    fixed[threadIdx.x % 100] = 1;
    sized[threadIdx.x] = fixed[0];
    *value = sized[threadIdx.x];
}
__global__ void stop(int how, int* foreign) {
    if (how == 0) asm("trap;");
    if (how == 1) assert(how == 0);
    if (how == 2) *foreign = 1;
    if (how == 3) *(volatile int*)((char*)foreign + 1) = 1;
}
__global__ void print() {
    float zero = threadIdx.x;
    unsigned long long bits = 0xfff8000000000000ull;
    printf("%f %f %5.1f|%e %g %F\n", __longlong_as_double(bits), zero / zero, -(zero / zero), -1e300 * 1e300, sqrtf(-1 - zero), (double)__int_as_float(0x7fc00000));
}

__device__ int counted[5] = {1, 2, 3, 4, 5};
__constant__ short fixed[7] = {1, 2, 3};
__managed__ int managed = 7;
static int* value;  // on the device

static int read(const int* from) {
    int host = -1;
    cudaMemcpy(&host, from, sizeof host, cudaMemcpyDeviceToHost);
    return host;
}

static void launches() {
    cudaMemset(value, 0, 4);
    add<<<1, 0>>>(value, 1);
    say_last("no threads");
    add<<<1, 1025>>>(value, 1);
    say_last("threads in x");
    add<<<1, dim3(1, 1025)>>>(value, 1);
    say_last("threads in y");
    add<<<1, dim3(1, 1, 65)>>>(value, 1);
    say_last("threads in z");
    add<<<1, dim3(32, 33)>>>(value, 1);
    say_last("threads together");
    add<<<0, 1>>>(value, 1);
    say_last("no blocks");
    add<<<dim3(1, 65536), 1>>>(value, 1);
    say_last("blocks in y");
    add<<<dim3(1, 1, 65536), 1>>>(value, 1);
    say_last("blocks in z");
    add<<<dim3(0x80000000u), 1>>>(value, 1);
    say_last("blocks in x");
    bounded<<<1, 65>>>(value);
    say_last("threads beyond launch bounds");
    add<<<1, 1, 48 << 10>>>(value, 1);
    say_last("48 KiB");
    add<<<1, 1, (48 << 10) + 1>>>(value, 1);
    say_last("more than 48 KiB");
    with_shared<<<1, 1, (48 << 10) - 300>>>(value);
    say_last("more than 48 KiB with static");
    int most;
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    say("opt in", cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000));
    add<<<1, 1, 50000>>>(value, 10);
    say_last("opted in");
    add<<<1, 1, 50001>>>(value, 10);
    say_last("more than opted in");
    say("opt in to all", cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    add<<<1, 1, most>>>(value, 10);
    say_last("all");
    say("opt in to more", cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1));
    say("opt in to more with static", cudaFuncSetAttribute(with_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, most - 300));
    say("opt in to less than none", cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
    add<<<1, 1, size_t(1) << 32>>>(value, 0);
    say_last("4 GiB");
    int one = 1;
    void* arguments[] = {&value, &one};
    say("cooperative", cudaLaunchCooperativeKernel((void*)add, 2, 1, arguments, 0, 0));
    say("too cooperative", cudaLaunchCooperativeKernel((void*)add, 1 << 20, 256, arguments, 0, 0));
    say("what ran", cudaDeviceSynchronize(), {read(value)});
}

static void errors() {
    void* none;
    cudaMalloc(&none, ~size_t(0) >> 8);
    say("peek", cudaSuccess, {cudaPeekAtLastError(), cudaPeekAtLastError(), cudaGetLastError(), cudaGetLastError()});
    add<<<1, 2000>>>(value, 1);
    cudaDeviceSynchronize();
    int elsewhere = -1;
    std::thread([&] { elsewhere = cudaGetLastError(); }).join();
    say("after a success", cudaSuccess, {cudaPeekAtLastError() != 0, elsewhere});
    add<<<1, 2000>>>(value, 1);
    cudaMemset(nullptr, 0, 1 << 20);
    say("the last of two", cudaGetLastError());
    for (int code : {0, 1, 2, 9, 12, 13, 17, 21, 52, 98, 100, 101, 201, 209, 215, 217, 218, 222, 300, 304, 400, 401, 500, 600,
                     700, 701, 702, 704, 705, 708, 709, 710, 712, 713, 714, 715, 716, 717, 718, 719, 720, 800, 801, 900, 901,
                     902, 903, 904, 905, 906, 907, 908, 999, 77, -1}) {
        std::printf("error %d: %s, %s\n", code, cudaGetErrorName(cudaError_t(code)), cudaGetErrorString(cudaError_t(code)));
    }
}

static void memory() {
    int host[64];
    char *a, *none = (char*)host;
    say("aligned", cudaMalloc(&a, 1001), {(long long)((uintptr_t)a % 256)});
    say("too much", cudaMalloc(&none, size_t(100) << 40), {none == (char*)host, none == nullptr});
    none = (char*)host;
    say("nothing", cudaMalloc(&none, 0), {none == nullptr});
    say("nowhere", cudaMalloc((void**)nullptr, 8));
    say("free null", cudaFree(nullptr));
    say("free within", cudaFree(a + 256));
    say("free", cudaFree(a));
    say("free twice", cudaFree(a));
    say("free host", cudaFree(host));
    say("free host's null", cudaFreeHost(nullptr));
    say("free host's foreign", cudaFreeHost(host));
    cudaMalloc(&a, 1000);
    say("free host's device", cudaFreeHost(a));
    char* pinned;
    say("pinned", cudaHostAlloc(&pinned, 1000, cudaHostAllocMapped));
    say("free pinned", cudaFree(pinned));
    unsigned flags = 0;
    say("flags", cudaHostGetFlags(&flags, pinned), {flags});
    say("flags of foreign", cudaHostGetFlags(&flags, host));
    int* alias = nullptr;
    say("alias", cudaHostGetDevicePointer(&alias, pinned, 0), {(char*)alias == pinned});
    say("alias within", cudaHostGetDevicePointer(&alias, pinned + 100, 0), {(char*)alias == pinned + 100});
    say("alias with flags", cudaHostGetDevicePointer(&alias, pinned, 1));
    say("alias of foreign", cudaHostGetDevicePointer(&alias, host, 0), {alias == nullptr});
    say("alias of device", cudaHostGetDevicePointer(&alias, a, 0));
    *(int*)pinned = 5;
    add<<<1, 3>>>((int*)pinned, 2);
    say("used", cudaDeviceSynchronize(), {*(int*)pinned});
    say("free host's", cudaFreeHost(pinned));
    say("free host's twice", cudaFreeHost(pinned));
    say("no pinned", cudaHostAlloc(&pinned, 0, 0), {pinned == nullptr});
    say("pinned by what", cudaHostAlloc(&pinned, 8, 64));
    std::vector<int> page(4096, 1);
    say("register nothing", cudaHostRegister(page.data(), 0, 0));
    say("register null", cudaHostRegister(nullptr, 8, 0));
    say("register by what", cudaHostRegister(page.data(), 8, 1 << 20));
    say("register", cudaHostRegister(page.data(), page.size() * 4, cudaHostRegisterMapped));
    say("register twice", cudaHostRegister(page.data(), page.size() * 4, 0));
    say("alias of registered", cudaHostGetDevicePointer(&alias, page.data() + 1, 0), {alias == page.data() + 1});
    add<<<1, 3>>>(alias, 2);
    say("used registered", cudaDeviceSynchronize(), {page[1]});
    say("unregister within", cudaHostUnregister(page.data() + 1));
    say("unregister", cudaHostUnregister(page.data()));
    say("unregister twice", cudaHostUnregister(page.data()));
    say("unregister null", cudaHostUnregister(nullptr));
    int* both;
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0}, home = {cudaMemLocationTypeHost, 0}, away = {cudaMemLocationTypeDevice, 99};
    say("managed", cudaMallocManaged(&both, 4000));
    say("no managed", cudaMallocManaged(&pinned, 0));
    say("managed by what", cudaMallocManaged(&pinned, 8, 0));
    *both = 1;
    say("prefetch", cudaMemPrefetchAsync(both, 4000, here, 0, 0));
    add<<<1, 1>>>(both, 41);
    say("prefetch home", cudaMemPrefetchAsync(both, 4000, home, 0, 0));
    say("used managed", cudaDeviceSynchronize(), {*both});
    say("prefetch to no device", cudaMemPrefetchAsync(both, 4000, away, 0, 0));
    say("prefetch device memory", cudaMemPrefetchAsync(a, 1000, here, 0, 0));
    say("prefetch nothing", cudaMemPrefetchAsync(both, 0, here, 0, 0));
    say("prefetch with flags", cudaMemPrefetchAsync(both, 4000, here, 1, 0));
    for (int advice = cudaMemAdviseSetReadMostly; advice <= cudaMemAdviseUnsetAccessedBy; ++advice) {
        say("advise", cudaMemAdvise(both, 4000, cudaMemoryAdvise(advice), here), {advice});
    }
    say("advise what", cudaMemAdvise(both, 4000, cudaMemoryAdvise(77), here));
    say("advise device memory", cudaMemAdvise(a, 1000, cudaMemAdviseSetReadMostly, here));
    say("advise no device", cudaMemAdvise(both, 4000, cudaMemAdviseSetPreferredLocation, away));
    say("free managed", cudaFree(both));
    size_t left, total;
    say("info", cudaMemGetInfo(&left, &total), {left <= total, left > 0});
    say("info nowhere", cudaMemGetInfo(nullptr, nullptr));
    cudaFree(a);
}

static void about(const char* name, const void* pointer) {
    cudaPointerAttributes it;
    std::memset(&it, 77, sizeof it);
    cudaError_t error = cudaPointerGetAttributes(&it, pointer);
    say(name, error, {it.type, it.device, it.devicePointer == pointer, it.hostPointer == pointer});
}

static void pointers() {
    char *device, *pinned, *both, *ordered;
    void* symbol;
    std::vector<char> page(8192);
    cudaMalloc(&device, 1000);
    about("device", device);
    about("device within", device + 999);
    cudaMallocHost(&pinned, 1000);
    about("pinned", pinned);
    about("pinned within", pinned + 10);
    cudaHostRegister(page.data(), page.size(), 0);
    about("registered", page.data() + 7);
    cudaHostUnregister(page.data());
    about("unregistered", page.data() + 7);
    cudaMallocManaged(&both, 1000);
    about("managed", both + 3);
    cudaGetSymbolAddress(&symbol, counted);
    about("symbol", symbol);
    cudaGetSymbolAddress(&symbol, fixed);
    about("constant symbol", symbol);
    about("managed symbol", &managed);
    about("symbol's shadow", counted);
    cudaMallocAsync(&ordered, 1000, 0);
    about("ordered", ordered + 1);
    cudaFreeAsync(ordered, 0);
    int local;
    about("host", &local);
    about("null", nullptr);
    cudaFree(device);
    about("freed", device);
    say("nowhere", cudaPointerGetAttributes(nullptr, both));
    cudaFree(both);
    cudaFreeHost(pinned);
}

// Bytes that tell where they are from.
static unsigned checksum(const std::vector<unsigned char>& bytes) {
    unsigned sum = 17;
    for (unsigned char byte : bytes) sum = sum * 31 + byte;
    return sum % 1000003;
}

static void copies() {
    constexpr size_t width = 37, height = 11, depth = 5;
    std::vector<unsigned char> source(width * height * depth), target(41 * 13 * 7, 0xee);
    for (size_t i = 0; i < source.size(); ++i) source[i] = i * 7 + i / 37;
    char* rows;
    size_t pitch = 0;
    say("rows", cudaMallocPitch(&rows, &pitch, width, height), {pitch >= width, (long long)(pitch % 32)});
    say("no rows", cudaMallocPitch(&rows, &pitch, width, 0), {rows == nullptr});
    cudaMallocPitch(&rows, &pitch, width, height);
    say("fill", cudaMemset(rows, 3, pitch * height));
    say("fill rows", cudaMemset2D(rows + 2, pitch, 0x1ff, 31, 9));
    say("rows in", cudaMemcpy2D(rows + 5, pitch, source.data(), width, 29, 7, cudaMemcpyHostToDevice));
    say("rows out", cudaMemcpy2D(target.data() + 3, 41, rows, pitch, width, height, cudaMemcpyDeviceToHost), {checksum(target)});
    say("rows within", cudaMemcpy2D(rows, pitch, rows + 8 * pitch, pitch, width, 2, cudaMemcpyDeviceToDevice));
    say("rows by default", cudaMemcpy2D(target.data(), 41, rows, pitch, 33, 3, cudaMemcpyDefault), {checksum(target)});
    say("narrow", cudaMemcpy2D(rows, 20, source.data(), width, 29, 7, cudaMemcpyHostToDevice));
    say("narrow source", cudaMemcpy2D(rows, pitch, source.data(), 20, 29, 7, cudaMemcpyHostToDevice));
    say("narrow single row", cudaMemcpy2D(rows, 20, source.data(), 20, 29, 1, cudaMemcpyHostToDevice));
    say("narrow fill", cudaMemset2D(rows, 20, 1, 29, 7));
    say("no width", cudaMemcpy2D(rows, pitch, source.data(), width, 0, 7, cudaMemcpyHostToDevice));
    say("no height", cudaMemcpy2D(rows, pitch, source.data(), width, 29, 0, cudaMemcpyHostToDevice));
    say("no height to fill", cudaMemset2D(rows, pitch, 1, 29, 0));
    say("rows where", cudaMemcpy2D(rows, pitch, source.data(), width, 29, 7, cudaMemcpyKind(5)));
    say("rows from null", cudaMemcpy2D(rows, pitch, nullptr, width, 29, 7, cudaMemcpyHostToDevice));
    cudaPitchedPtr box = {};
    say("box", cudaMalloc3D(&box, make_cudaExtent(width, height, depth)), {box.pitch >= width, (long long)box.xsize, (long long)box.ysize});
    say("fill box", cudaMemset3D(box, 9, make_cudaExtent(width, height, depth)));
    cudaPitchedPtr inner = box;
    inner.ptr = (char*)box.ptr + 3;
    say("fill in box", cudaMemset3D(inner, 8, make_cudaExtent(13, 5, 3)));
    cudaMemcpy3DParms parms = {};
    parms.srcPtr = make_cudaPitchedPtr(source.data(), width, width, height);
    parms.srcPos = make_cudaPos(3, 2, 1);
    parms.dstPtr = box;
    parms.dstPos = make_cudaPos(1, 3, 2);
    parms.extent = make_cudaExtent(23, 7, 3);
    parms.kind = cudaMemcpyHostToDevice;
    say("box in", cudaMemcpy3D(&parms));
    cudaMemcpy3DParms back = {};
    back.srcPtr = box;
    back.dstPtr = make_cudaPitchedPtr(target.data(), 41, 41, 13);
    back.dstPos = make_cudaPos(2, 1, 1);
    back.extent = make_cudaExtent(width, height, depth);
    back.kind = cudaMemcpyDeviceToHost;
    say("box out", cudaMemcpy3D(&back), {checksum(target)});
    parms.extent.depth = 0;
    say("no depth", cudaMemcpy3D(&parms));
    parms.extent = make_cudaExtent(23, 7, 3);
    parms.srcPtr.pitch = 20;
    say("narrow box", cudaMemcpy3D(&parms));
    say("no parms", cudaMemcpy3D(nullptr));
    char* plain;
    cudaMalloc(&plain, 512);
    say("copy", cudaMemcpy(plain, source.data(), 512, cudaMemcpyHostToDevice));
    say("copy null", cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDeviceToHost));
    say("copy from null", cudaMemcpy(plain, nullptr, 8, cudaMemcpyHostToDevice));
    say("copy to null", cudaMemcpy(nullptr, plain, 8, cudaMemcpyDeviceToHost));
    say("copy where", cudaMemcpy(plain, source.data(), 8, cudaMemcpyKind(9)));
    say("copy the wrong way", cudaMemcpy(source.data(), plain, 8, cudaMemcpyHostToDevice));
    say("copy in the device only", cudaMemcpy(plain, source.data(), 8, cudaMemcpyDeviceToDevice));
    say("fill the host", cudaMemset(source.data(), 1, 8));
    say("fill null", cudaMemset(nullptr, 1, 8));
    say("fill nothing", cudaMemset(plain, 1, 0));
    say("peer", cudaMemcpyPeer(plain, 0, plain + 256, 0, 100));
    say("peer of no device", cudaMemcpyPeer(plain, 0, plain + 256, 99, 100));
    cudaFree(plain);
    cudaFree(rows);
    cudaFree(box.ptr);
}

static void symbols() {
    int host[5] = {}, put[2] = {20, 30};
    short words[7] = {};
    say("out", cudaMemcpyFromSymbol(host, counted, 8, 8), {host[0], host[1], host[2]});
    say("in", cudaMemcpyToSymbol(counted, put, 8, 4));
    say("all", cudaMemcpyFromSymbol(host, counted, 20), {host[0], host[1], host[2], host[3], host[4]});
    say("too far in", cudaMemcpyToSymbol(counted, put, 8, 16));
    say("too far out", cudaMemcpyFromSymbol(host, counted, 24));
    say("nothing", cudaMemcpyToSymbol(counted, put, 0, 20));
    say("no symbol", cudaMemcpyToSymbol(host, put, 8));
    say("the wrong way", cudaMemcpyToSymbol(counted, put, 8, 0, cudaMemcpyDeviceToHost));
    say("constant in", cudaMemcpyToSymbol(fixed, put, 3, 7));
    say("constant out", cudaMemcpyFromSymbol(words, fixed, 14), {words[2], words[3], words[4], words[5]});
    size_t size = 0;
    say("size", cudaGetSymbolSize(&size, counted), {(long long)size});
    say("size of constant", cudaGetSymbolSize(&size, fixed), {(long long)size});
    say("size of managed", cudaGetSymbolSize(&size, managed), {(long long)size});
    say("size of none", cudaGetSymbolSize(&size, host));
    int* address = nullptr;
    say("address", cudaGetSymbolAddress((void**)&address, counted), {read(address + 1)});
    say("address of managed", cudaGetSymbolAddress((void**)&address, managed), {address == &managed});
    say("address of none", cudaGetSymbolAddress((void**)&address, host));
    managed = 8;
    add<<<1, 1>>>(address, 1);
    say("managed", cudaDeviceSynchronize(), {managed});
}

static void CUDART_CB note(cudaStream_t, cudaError_t status, void* data) { *(int*)data = 100 + status; }
static void CUDART_CB add_ten(void* data) { *(int*)data += 10; }

static void streams() {
    cudaStream_t stream, eager, other;
    int least, greatest, got = -1;
    unsigned flags = 9;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    say("range", cudaSuccess, {least, greatest < 0});
    say("range of nothing", cudaDeviceGetStreamPriorityRange(nullptr, nullptr));
    say("create", cudaStreamCreate(&stream));
    say("create nowhere", cudaStreamCreate(nullptr));
    say("create by what", cudaStreamCreateWithFlags(&other, 6));
    say("priority", cudaStreamCreateWithPriority(&eager, cudaStreamNonBlocking, greatest));
    say("its priority", cudaStreamGetPriority(eager, &got), {got == greatest});
    say("its flags", cudaStreamGetFlags(eager, &flags), {flags});
    say("priority beyond", cudaStreamCreateWithPriority(&other, cudaStreamDefault, greatest - 50));
    say("its clamped priority", cudaStreamGetPriority(other, &got), {got == greatest});
    say("legacy's priority", cudaStreamGetPriority(0, &got), {got});
    say("legacy's flags", cudaStreamGetFlags(0, &flags), {flags});
    say("query", cudaStreamQuery(stream));
    cudaEvent_t event;
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaMemsetAsync(value, 0, 4, stream);
    add<<<1, 1, 0, stream>>>(value, 3);
    say("record", cudaEventRecord(event, stream));
    say("wait", cudaStreamWaitEvent(eager, event));
    say("wait with flags", cudaStreamWaitEvent(eager, event, 77));
    add<<<1, 1, 0, eager>>>(value, 4);
    say("synchronize", cudaStreamSynchronize(eager), {read(value)});
    int status = -1, *pinned;
    cudaMallocHost(&pinned, 4);
    say("callback", cudaStreamAddCallback(stream, note, &status, 0));
    cudaStreamSynchronize(stream);
    say("called", cudaStreamQuery(stream), {status});
    say("callback with flags", cudaStreamAddCallback(stream, note, &status, 1));
    say("no callback", cudaStreamAddCallback(stream, nullptr, &status, 0));
    add<<<1, 1, 0, stream>>>(value, 1);
    cudaMemcpyAsync(pinned, value, 4, cudaMemcpyDeviceToHost, stream);
    say("host function", cudaLaunchHostFunc(stream, add_ten, pinned));
    say("no host function", cudaLaunchHostFunc(stream, nullptr, pinned));
    cudaStreamSynchronize(stream);
    say("in order", cudaSuccess, {*pinned});
    // Legacy: behind what blocking streams have, and before what they get.
    add<<<1, 1, 0, stream>>>(value, 100);
    add<<<1, 1>>>(value, 100);
    add<<<1, 1, 0, stream>>>(value, 100);
    add<<<1, 1, 0, cudaStreamPerThread>>>(value, 1000);
    say("per thread", cudaStreamSynchronize(cudaStreamPerThread));
    say("legacy", cudaStreamSynchronize(cudaStreamLegacy), {read(value)});
    say("destroy", cudaStreamDestroy(stream));
    say("destroy legacy", cudaStreamDestroy(0));
    cudaStreamDestroy(eager);
    cudaStreamDestroy(other);
    cudaEventDestroy(event);
    cudaFreeHost(pinned);
}

static void events() {
    cudaEvent_t begin, end, plain;
    float ms = -1;
    say("create", cudaEventCreate(&begin));
    say("create nowhere", cudaEventCreate(nullptr));
    say("create by what", cudaEventCreateWithFlags(&end, 1 << 10));
    say("interprocess with times", cudaEventCreateWithFlags(&end, cudaEventInterprocess));
    cudaEventCreate(&end);
    cudaEventCreateWithFlags(&plain, cudaEventDisableTiming);
    say("query unrecorded", cudaEventQuery(begin));
    say("wait for unrecorded", cudaEventSynchronize(begin));
    say("elapsed unrecorded", cudaEventElapsedTime(&ms, begin, end));
    say("record", cudaEventRecord(begin));
    say("elapsed half recorded", cudaEventElapsedTime(&ms, begin, end));
    add<<<1, 1>>>(value, 1);
    cudaEventRecord(end);
    cudaEventRecord(plain);
    say("wait", cudaEventSynchronize(end));
    say("query", cudaEventQuery(end));
    say("elapsed", cudaEventElapsedTime(&ms, begin, end), {ms >= 0});
    say("elapsed backwards", cudaEventElapsedTime(&ms, end, begin), {ms <= 0});
    say("elapsed without times", cudaEventElapsedTime(&ms, begin, plain));
    say("elapsed nowhere", cudaEventElapsedTime(nullptr, begin, end));
    say("record null", cudaEventRecord(nullptr));
    say("query null", cudaEventQuery(nullptr));
    say("destroy", cudaEventDestroy(begin));
    say("destroy null", cudaEventDestroy(nullptr));
    cudaEventDestroy(end);
    cudaEventDestroy(plain);
}

static void captures() {
    cudaStream_t stream, other, third;
    cudaEvent_t event, second;
    cudaGraph_t graph = nullptr;
    cudaStreamCaptureStatus status;
    cudaStreamCreate(&stream);
    cudaStreamCreate(&other);
    cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking);
    cudaEventCreate(&event);
    cudaEventCreate(&second);
    auto begin = [&](cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) { cudaStreamBeginCapture(stream, mode); };
    auto end = [&](const char* name) {
        cudaError_t error = cudaStreamEndCapture(stream, &graph);
        say(name, error, {graph != nullptr});
        if (graph) cudaGraphDestroy(graph);
        graph = nullptr;
    };
    say("legacy", cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    say("mode", cudaStreamBeginCapture(stream, cudaStreamCaptureMode(9)));
    end("end none");
    say("begin", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    say("begin again", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    say("status", cudaStreamIsCapturing(stream, &status), {status});
    end("end");
    begin();
    say("synchronize", cudaStreamSynchronize(stream));
    say("invalid status", cudaStreamIsCapturing(stream, &status), {status});
    add<<<1, 1, 0, stream>>>(value, 1);
    say_last("launch into invalid");
    end("end invalid");
    begin();
    say("query", cudaStreamQuery(stream));
    end("end queried");
    begin();
    void* more;
    say("allocate", cudaMalloc(&more, 8));
    end("end allocated");
    begin(cudaStreamCaptureModeRelaxed);
    say("allocate relaxed", cudaMalloc(&more, 8));
    cudaFree(more);
    end("end relaxed");
    begin();
    say("synchronize device", cudaDeviceSynchronize());
    end("end synchronized");
    begin();
    add<<<1, 1>>>(value, 1);
    say_last("launch beside");
    end("end beside");
    begin(cudaStreamCaptureModeRelaxed);
    add<<<1, 1>>>(value, 1);
    say_last("launch beside relaxed");
    end("end beside relaxed");
    begin();
    cudaEventRecord(event, stream);
    say("query event", cudaEventQuery(event));
    end("end queried event");
    begin();
    cudaEventRecord(event, stream);
    say("synchronize event", cudaEventSynchronize(event));
    end("end synchronized event");
    cudaEventRecord(second, third);
    begin();
    say("wait outside", cudaStreamWaitEvent(stream, second));
    end("end waited");
    begin();
    cudaEventRecord(event, stream);
    say("fork", cudaStreamWaitEvent(third, event));
    say("forked status", cudaStreamIsCapturing(third, &status), {status});
    add<<<1, 1, 0, third>>>(value, 1);
    say("end forked", cudaStreamEndCapture(third, &graph));
    end("end unjoined");
    begin();
    cudaStreamBeginCapture(third, cudaStreamCaptureModeGlobal);
    add<<<1, 1, 0, stream>>>(value, 1);
    add<<<1, 1, 0, third>>>(value, 1);
    cudaEventRecord(event, stream);
    say("merge", cudaStreamWaitEvent(third, event));
    say("end third", cudaStreamEndCapture(third, &graph));
    end("end merged");
    begin(cudaStreamCaptureModeThreadLocal);
    std::thread([&] { say("end elsewhere", cudaStreamEndCapture(stream, &graph)); }).join();
    end("end here");
    begin();
    say("callback", cudaStreamAddCallback(stream, note, &status, 0));
    end("end called");
    cudaStreamDestroy(stream);
    cudaStreamDestroy(other);
    cudaStreamDestroy(third);
    cudaEventDestroy(event);
    cudaEventDestroy(second);
}

static void pools() {
    cudaMemPool_t pool, usual, now;
    int flag = -1;
    uint64_t number = 1;
    auto get = [&](cudaMemPoolAttr which) {
        number = 77;
        cudaMemPoolGetAttribute(pool, which, &number);
        return number;
    };
    say("default", cudaDeviceGetDefaultMemPool(&usual, 0));
    say("default of none", cudaDeviceGetDefaultMemPool(&usual, 99));
    say("current", cudaDeviceGetMemPool(&now, 0), {now == usual});
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location = {cudaMemLocationTypeDevice, 0};
    say("create", cudaMemPoolCreate(&pool, &props));
    props.location.id = 99;
    cudaMemPool_t wrong;
    say("create on none", cudaMemPoolCreate(&wrong, &props));
    say("create from nothing", cudaMemPoolCreate(&wrong, nullptr));
    say("follow", cudaMemPoolGetAttribute(pool, cudaMemPoolReuseFollowEventDependencies, &flag), {flag});
    flag = 0;
    say("set flag", cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &flag));
    flag = 7;
    say("get flag", cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &flag), {flag});
    say("threshold", cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &number), {(long long)number});
    number = 1 << 20;
    say("set threshold", cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &number));
    say("its threshold", cudaSuccess, {(long long)get(cudaMemPoolAttrReleaseThreshold)});
    say("none used", cudaSuccess, {(long long)get(cudaMemPoolAttrUsedMemCurrent), (long long)get(cudaMemPoolAttrUsedMemHigh)});
    int *a, *b = (int*)&flag;
    say("allocate", cudaMallocFromPoolAsync(&a, 40000, pool, 0));
    say("used", cudaSuccess, {get(cudaMemPoolAttrUsedMemCurrent) >= 40000, get(cudaMemPoolAttrUsedMemHigh) >= 40000,
                              get(cudaMemPoolAttrReservedMemCurrent) >= get(cudaMemPoolAttrUsedMemCurrent)});
    cudaMemsetAsync(a, 0, 40000);
    add<<<1, 5>>>(a + 9999, 2);
    say("works", cudaDeviceSynchronize(), {read(a + 9999)});
    say("free", cudaFreeAsync(a, 0));
    cudaDeviceSynchronize();
    say("used after", cudaSuccess, {(long long)get(cudaMemPoolAttrUsedMemCurrent), get(cudaMemPoolAttrUsedMemHigh) >= 40000});
    number = 5;
    say("set high", cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &number));
    number = 0;
    say("reset high", cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &number));
    say("high", cudaSuccess, {(long long)get(cudaMemPoolAttrUsedMemHigh)});
    say("set used", cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &number));
    say("get what", cudaMemPoolGetAttribute(pool, cudaMemPoolAttr(99), &number));
    say("set what", cudaMemPoolSetAttribute(pool, cudaMemPoolAttr(99), &number));
    say("trim", cudaMemPoolTrimTo(pool, 0));
    say("trimmed", cudaSuccess, {(long long)get(cudaMemPoolAttrReservedMemCurrent)});
    cudaMemAccessFlags access;
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    say("access", cudaMemPoolGetAccess(&access, pool, &here), {access});
    say("set current", cudaDeviceSetMemPool(0, pool));
    say("its current", cudaDeviceGetMemPool(&now, 0), {now == pool});
    cudaMallocAsync(&a, 4000, 0);
    say("used by current", cudaSuccess, {get(cudaMemPoolAttrUsedMemCurrent) >= 4000});
    say("free at once", cudaFree(a));
    say("used after free", cudaSuccess, {(long long)get(cudaMemPoolAttrUsedMemCurrent)});
    cudaDeviceSetMemPool(0, usual);
    say("no bytes", cudaMallocAsync(&b, 0, 0), {b == nullptr, b == (int*)&flag});
    say("too many", cudaMallocAsync(&b, size_t(100) << 40, 0));
    say("free null", cudaFreeAsync(nullptr, 0));
    cudaMallocAsync(&a, 4000, 0);
    cudaFreeAsync(a, 0);
    say("free twice", cudaFreeAsync(a, 0));
    say("free host", cudaFreeAsync(&flag, 0));
    cudaMalloc(&a, 4000);
    say("free plain", cudaFreeAsync(a, 0));
    cudaDeviceSynchronize();
    cudaFree(a);
    say("destroy", cudaMemPoolDestroy(pool));
    say("destroy null", cudaMemPoolDestroy(nullptr));
    say("destroy default", cudaMemPoolDestroy(usual));
}

static void queries() {
    int count = 0, device = -1, driver = 0, runtime = 0, got = 77;
    say("count", cudaGetDeviceCount(&count), {count >= 1});
    say("count nowhere", cudaGetDeviceCount(nullptr));
    say("set beyond", cudaSetDevice(count));
    say("set below", cudaSetDevice(-1));
    say("device", cudaGetDevice(&device), {device});
    say("driver", cudaDriverGetVersion(&driver), {driver >= 13000, driver % 10});
    say("runtime", cudaRuntimeGetVersion(&runtime), {runtime});
    say("peer of itself", cudaDeviceCanAccessPeer(&got, 0, 0), {got});
    say("peer of none", cudaDeviceCanAccessPeer(&got, 0, 99));
    say("enable itself", cudaDeviceEnablePeerAccess(0, 0));
    say("enable none", cudaDeviceEnablePeerAccess(99, 0));
    say("disable itself", cudaDeviceDisablePeerAccess(0));
    say("between itself", cudaDeviceGetP2PAttribute(&got, cudaDevP2PAttrAccessSupported, 0, 0));
    cudaDeviceProp it;
    say("properties", cudaGetDeviceProperties(&it, 0));
    say("properties of none", cudaGetDeviceProperties(&it, 99));
    auto attribute = [](cudaDeviceAttr which) {
        int found = -1;
        cudaDeviceGetAttribute(&found, which, 0);
        return found;
    };
    say("shape", cudaSuccess, {it.warpSize, it.maxThreadsPerBlock, it.maxThreadsDim[0], it.maxThreadsDim[1], it.maxThreadsDim[2],
                               it.maxGridSize[0], it.maxGridSize[1], it.maxGridSize[2]});
    say("memories", cudaSuccess, {(long long)it.sharedMemPerBlock, it.regsPerBlock, (long long)it.totalConstMem, (long long)it.memPitch,
                                  (long long)it.reservedSharedMemPerBlock, it.sharedMemPerBlockOptin + 1024 == it.sharedMemPerMultiprocessor});
    say("can", cudaSuccess, {it.unifiedAddressing, it.canMapHostMemory, it.managedMemory, it.cooperativeLaunch, it.concurrentKernels,
                             it.memoryPoolsSupported, it.streamPrioritiesSupported, it.hostRegisterSupported, it.integrated});
    struct { cudaDeviceAttr which; long long of_properties; } same[] = {
        {cudaDevAttrMaxThreadsPerBlock, it.maxThreadsPerBlock}, {cudaDevAttrWarpSize, it.warpSize},
        {cudaDevAttrMultiProcessorCount, it.multiProcessorCount}, {cudaDevAttrComputeCapabilityMajor, it.major},
        {cudaDevAttrComputeCapabilityMinor, it.minor}, {cudaDevAttrMaxSharedMemoryPerBlock, (long long)it.sharedMemPerBlock},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, (long long)it.sharedMemPerBlockOptin},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, (long long)it.sharedMemPerMultiprocessor},
        {cudaDevAttrReservedSharedMemoryPerBlock, (long long)it.reservedSharedMemPerBlock},
        {cudaDevAttrMaxRegistersPerBlock, it.regsPerBlock}, {cudaDevAttrMaxRegistersPerMultiprocessor, it.regsPerMultiprocessor},
        {cudaDevAttrMaxThreadsPerMultiProcessor, it.maxThreadsPerMultiProcessor},
        {cudaDevAttrMaxBlocksPerMultiprocessor, it.maxBlocksPerMultiProcessor}, {cudaDevAttrL2CacheSize, it.l2CacheSize},
        {cudaDevAttrTotalConstantMemory, (long long)it.totalConstMem}, {cudaDevAttrGlobalMemoryBusWidth, it.memoryBusWidth},
        {cudaDevAttrAsyncEngineCount, it.asyncEngineCount}, {cudaDevAttrMaxPitch, (long long)it.memPitch},
        {cudaDevAttrTextureAlignment, (long long)it.textureAlignment}, {cudaDevAttrUnifiedAddressing, it.unifiedAddressing},
        {cudaDevAttrManagedMemory, it.managedMemory}, {cudaDevAttrConcurrentManagedAccess, it.concurrentManagedAccess},
        {cudaDevAttrPageableMemoryAccess, it.pageableMemoryAccess}, {cudaDevAttrHostRegisterSupported, it.hostRegisterSupported},
        {cudaDevAttrMemoryPoolsSupported, it.memoryPoolsSupported}, {cudaDevAttrIntegrated, it.integrated},
        {cudaDevAttrEccEnabled, it.ECCEnabled}, {cudaDevAttrStreamPrioritiesSupported, it.streamPrioritiesSupported},
        {cudaDevAttrMaxPersistingL2CacheSize, it.persistingL2CacheMaxSize}, {cudaDevAttrMaxAccessPolicyWindowSize, it.accessPolicyMaxWindowSize},
        {cudaDevAttrClusterLaunch, it.clusterLaunch}, {cudaDevAttrIsMultiGpuBoard, it.isMultiGpuBoard}};
    int differ = 0;
    for (auto& pair : same) differ += attribute(pair.which) != pair.of_properties;
    say("attributes that differ from properties", cudaSuccess, {differ});
    say("positive", cudaSuccess, {attribute(cudaDevAttrClockRate) > 0, attribute(cudaDevAttrMemoryClockRate) > 0, it.multiProcessorCount > 0,
                                  it.totalGlobalMem > 0, it.l2CacheSize > 0, it.major >= 8, attribute(cudaDevAttrGpuOverlap)});
    say("attribute", cudaDeviceGetAttribute(&got, cudaDeviceAttr(9999), 0));
    say("attribute of none", cudaDeviceGetAttribute(&got, cudaDevAttrWarpSize, 99));
    say("attribute nowhere", cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
    size_t bytes = 0;
    say("stack", cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    say("its stack", cudaDeviceGetLimit(&bytes, cudaLimitStackSize), {bytes >= 4096});
    say("heap", cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize), {(long long)bytes});
    say("limit", cudaDeviceGetLimit(&bytes, cudaLimit(99)));
    char id[32];
    say("bus id", cudaDeviceGetPCIBusId(id, 32, 0), {(long long)std::strlen(id)});
    say("by bus id", cudaDeviceGetByPCIBusId(&device, id), {device});
    cudaFuncAttributes of;
    say("function", cudaFuncGetAttributes(&of, add), {of.maxThreadsPerBlock, (long long)of.sharedSizeBytes, (long long)of.localSizeBytes,
                                                      of.numRegs > 0, of.ptxVersion});
    say("binary", cudaSuccess, {of.binaryVersion == it.major * 10 + it.minor});
    say("its bounds", cudaFuncGetAttributes(&of, bounded), {of.maxThreadsPerBlock, of.maxDynamicSharedSizeBytes});
    say("its shared", cudaFuncGetAttributes(&of, with_shared), {(long long)of.sharedSizeBytes, of.maxDynamicSharedSizeBytes});
    cudaFuncSetAttribute(with_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000);
    say("carveout", cudaFuncSetAttribute(with_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    say("its opt in", cudaFuncGetAttributes(&of, with_shared), {of.maxDynamicSharedSizeBytes, of.preferredShmemCarveout});
    say("carveout beyond", cudaFuncSetAttribute(with_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
    say("what", cudaFuncSetAttribute(with_shared, cudaFuncAttribute(99), 1));
    say("no function", cudaFuncGetAttributes(&of, &got));
    say("set no function", cudaFuncSetAttribute(&got, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
    auto blocks = [&](const char* name, const void* function, int threads, size_t shared, int expected) {
        cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&got, function, threads, shared);
        say(name, error, {error ? 0 : got - expected});
    };
    int threads = it.maxThreadsPerMultiProcessor;
    blocks("occupancy of 256", (void*)add, 256, 0, threads / 256);
    blocks("occupancy of 1000", (void*)add, 1000, 0, threads / 1024);
    blocks("occupancy of 1", (void*)add, 1, 0, it.maxBlocksPerMultiProcessor);
    blocks("occupancy by shared", (void*)add, 32, 40000, int(it.sharedMemPerMultiprocessor / (40000 + 960 + 1024)));
    blocks("occupancy of none", (void*)add, 0, 0, 0);
    blocks("occupancy of too many", (void*)add, 1025, 0, 0);
    blocks("occupancy beyond bounds", (void*)bounded, 65, 0, 0);
    blocks("occupancy of too much", (void*)add, 32, size_t(1) << 20, 0);
    blocks("occupancy of no function", &got, 32, 0, 0);
    int grid = 0, block = 0;
    say("best", cudaOccupancyMaxPotentialBlockSize(&grid, &block, add), {block, grid == it.multiProcessorCount * (threads / 1024)});
    say("best within", cudaOccupancyMaxPotentialBlockSize(&grid, &block, add, 0, 128), {block});
    say("available", cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, add, 1, 256), {bytes >= (48 << 10) && bytes <= it.sharedMemPerBlockOptin});
    add<<<1, 1>>>(value, 1);
    say("reset", cudaDeviceReset());
    say("after reset", cudaMalloc(&value, 4));
}

// Each breaks the context; `how` as stop() has it.
static void broken(int how) {
    cudaStream_t stream;
    cudaEvent_t event;
    void* more;
    int host;
    cudaStreamCreate(&stream);
    cudaEventCreate(&event);
    int* wrong = how == 3 ? value : (int*)16;
    stop<<<1, 1>>>(how, wrong);
    say_last("launch");
    say("synchronize", cudaDeviceSynchronize());
    // Success says that looking cleared it.
    stop<<<1, 1>>>(how, wrong);
    cudaError_t first = cudaPeekAtLastError(), second = cudaGetLastError(), third = cudaGetLastError();
    say("last errors", first, {first == second, third});
    say("malloc", cudaMalloc(&more, 8));
    say("free", cudaFree(value));
    say("copy", cudaMemcpy(&host, value, 4, cudaMemcpyDeviceToHost));
    say("stream", cudaStreamSynchronize(stream));
    say("query", cudaStreamQuery(0));
    say("event", cudaEventRecord(event));
    say("synchronize again", cudaDeviceSynchronize());
    say("count", cudaGetDeviceCount(&host), {host >= 1});
    say("device", cudaGetDevice(&host), {host});
    say("attribute", cudaDeviceGetAttribute(&host, cudaDevAttrWarpSize, 0), {host});
    say("destroy", cudaStreamDestroy(stream));
    say("reset", cudaDeviceReset());
    say("after reset", cudaMalloc(&more, 8));
}

static void printing() {
    print<<<1, 1>>>();
    say("print", cudaDeviceSynchronize());
}

int main(int, char** arguments) {
    std::string part = arguments[1];
    if (cudaMalloc(&value, 256)) return 1;
    struct { const char* name; void (*run)(); } parts[] = {
        {"launches", launches}, {"errors", errors}, {"memory", memory}, {"pointers", pointers}, {"copies", copies},
        {"symbols", symbols}, {"streams", streams}, {"events", events}, {"captures", captures}, {"pools", pools},
        {"printing", printing}, {"queries", queries}};
    for (auto& it : parts) {
        if (part != it.name) continue;
        std::printf("= %s\n", it.name);
        it.run();
    }
    const char* ends[] = {"trap", "assert", "address", "misaligned"};
    for (int how = 0; how < 4; ++how) {
        if (part != ends[how]) continue;
        std::printf("= %s\n", ends[how]);
        broken(how);
    }
}
