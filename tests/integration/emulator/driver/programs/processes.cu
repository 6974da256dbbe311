// Shares memory, events and pools with a child process: processes WHAT. The child is this program, too.
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checked.cuh"

constexpr int count = 100000;
constexpr size_t bytes = count * sizeof(int), piece = 2 << 20;

__global__ void add(int* values, int n, int value) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) values[i] += value;
}

static void add_on(int* values, int value, cudaStream_t stream = nullptr) { add<<<4, 256, 0, stream>>>(values, count, value); }

// Between parent and child: both have one end of a socket.
static int other = -1;

template <class Value>
static void send(const Value& value) {
    if (write(other, &value, sizeof value) != sizeof value) std::exit(3);
}

template <class Value>
static Value receive() {
    Value value;
    if (read(other, &value, sizeof value) != sizeof value) std::exit(4);
    return value;
}

static pid_t start(const char* what) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) std::exit(5);
    other = ends[0];
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    std::fflush(stdout);
    pid_t child = fork();
    if (!child) {
        char number[16];
        std::snprintf(number, sizeof number, "%d", ends[1]);
        execl("/proc/self/exe", "processes", what, number, static_cast<char*>(nullptr));
        _exit(6);
    }
    close(ends[1]);
    return child;
}

static void finish(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    if (status) std::printf("the child ended with %d\n", status);
}

static int wrong(const int* values, int expected) {
    static int host[count];
    CHECK(cudaMemcpy(host, values, bytes, cudaMemcpyDeviceToHost));
    int found = 0;
    for (int value : host) found += value != expected;
    return found;
}

// The descriptor under the same number in the child.
static void inherit(int descriptor) { fcntl(descriptor, F_SETFD, 0); }

static void memory() {
    int* values;
    CHECK(cudaMalloc(&values, bytes));
    CHECK(cudaMemset(values, 0, bytes));
    cudaIpcMemHandle_t handle, same;
    CHECK(cudaIpcGetMemHandle(&handle, values));
    CHECK(cudaIpcGetMemHandle(&same, values + 10));
    void* here;
    std::printf("one handle: %d\n", !std::memcmp(&handle, &same, sizeof handle));
    SAY(cudaIpcOpenMemHandle(&here, handle, cudaIpcMemLazyEnablePeerAccess));
    add_on(values, 1);  // before the child looks
    CHECK(cudaDeviceSynchronize());
    pid_t child = start("memory");
    send(handle);
    finish(child);
    std::printf("here %d wrong\n", wrong(values, 3));
    CHECK(cudaFree(values));
}

static void memory_in_child() {
    auto handle = receive<cudaIpcMemHandle_t>();
    void *opened, *again;
    CHECK(cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenMemHandle(&again, handle, cudaIpcMemLazyEnablePeerAccess));
    auto values = static_cast<int*>(opened);
    std::printf("one address: %d, there %d wrong\n", opened == again, wrong(values, 1));
    add_on(values, 2);
    CHECK(cudaIpcCloseMemHandle(again));
    SAY(cudaFree(opened));
    CHECK(cudaIpcCloseMemHandle(opened));
    SAY(cudaIpcCloseMemHandle(opened));
}

// Nobody waits for the kernel but by the event.
static void event() {
    int* values;
    cudaEvent_t done, plain;
    CHECK(cudaMalloc(&values, bytes));
    CHECK(cudaMemset(values, 0, bytes));
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming | cudaEventInterprocess));
    CHECK(cudaEventCreate(&plain));
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t handle;
    CHECK(cudaIpcGetMemHandle(&memory, values));
    SAY(cudaIpcGetEventHandle(&handle, plain));
    CHECK(cudaIpcGetEventHandle(&handle, done));
    pid_t child = start("event");
    send(memory);
    send(handle);
    receive<char>();  // the child has recorded, and waits now
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamWaitEvent(stream, done, 0));
    add_on(values, 2, stream);
    CHECK(cudaStreamSynchronize(stream));
    std::printf("%d wrong\n", wrong(values, 6));
    send('!');
    finish(child);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaEventDestroy(plain));
    CHECK(cudaEventDestroy(done));
    CHECK(cudaFree(values));
}

static void event_in_child() {
    auto memory = receive<cudaIpcMemHandle_t>();
    auto handle = receive<cudaIpcEventHandle_t>();
    void* values;
    cudaEvent_t done;
    cudaStream_t stream;
    CHECK(cudaIpcOpenMemHandle(&values, memory, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenEventHandle(&done, handle));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    add_on(static_cast<int*>(values), 4, stream);
    CHECK(cudaEventRecord(done, stream));
    send('!');
    receive<char>();
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaEventDestroy(done));
    CHECK(cudaIpcCloseMemHandle(values));
}

static void gone() {
    int* values;
    CHECK(cudaMalloc(&values, bytes));
    cudaIpcMemHandle_t handle;
    CHECK(cudaIpcGetMemHandle(&handle, values));
    CHECK(cudaFree(values));
    pid_t child = start("gone");
    send(handle);
    finish(child);
    int host;
    SAY(cudaIpcGetMemHandle(&handle, &host));
}

static void gone_in_child() {
    void* opened;
    SAY(cudaIpcOpenMemHandle(&opened, receive<cudaIpcMemHandle_t>(), cudaIpcMemLazyEnablePeerAccess));
    SAY(cudaIpcOpenMemHandle(&opened, cudaIpcMemHandle_t{}, cudaIpcMemLazyEnablePeerAccess));
}

static void pool() {
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    properties.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t shared, own;
    int *values, *alone, descriptor;
    CHECK(cudaMemPoolCreate(&shared, &properties));
    CHECK(cudaMallocFromPoolAsync(&values, bytes, shared, nullptr));
    CHECK(cudaMallocAsync(&alone, bytes, nullptr));
    cudaMemPoolPtrExportData data;
    CHECK(cudaMemPoolExportPointer(&data, values));
    SAY(cudaMemPoolExportPointer(&data, alone));
    CHECK(cudaMemPoolExportPointer(&data, values));
    CHECK(cudaDeviceGetDefaultMemPool(&own, 0));
    SAY(cudaMemPoolExportToShareableHandle(&descriptor, own, cudaMemHandleTypePosixFileDescriptor, 0));
    CHECK(cudaMemPoolExportToShareableHandle(&descriptor, shared, cudaMemHandleTypePosixFileDescriptor, 0));
    inherit(descriptor);
    pid_t child = start("pool");
    send(descriptor);
    send(data);
    finish(child);
    add_on(values, 1);  // reads what only the child wrote
    std::printf("here %d wrong\n", wrong(values, 6));
    CHECK(cudaFreeAsync(alone, nullptr));
    CHECK(cudaFreeAsync(values, nullptr));
    CHECK(cudaMemPoolDestroy(shared));
}

static void pool_in_child() {
    intptr_t descriptor = receive<int>();
    auto data = receive<cudaMemPoolPtrExportData>();
    cudaMemPool_t shared;
    CHECK(cudaMemPoolImportFromShareableHandle(&shared, reinterpret_cast<void*>(descriptor),
                                               cudaMemHandleTypePosixFileDescriptor, 0));
    close(static_cast<int>(descriptor));
    void *values, *more;
    CHECK(cudaMemPoolImportPointer(&values, shared, &data));
    SAY(cudaMallocFromPoolAsync(&more, bytes, shared, nullptr));
    CHECK(cudaMemset(values, 0, bytes));
    add_on(static_cast<int*>(values), 5);
    CHECK(cudaFreeAsync(values, nullptr));
    CHECK(cudaMemPoolDestroy(shared));
}

static CUdeviceptr map(CUmemGenericAllocationHandle handle) {
    CUdeviceptr address;
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CHECK(cuMemAddressReserve(&address, piece, 0, 0, 0));
    CHECK(cuMemMap(address, piece, 0, handle, 0));
    CHECK(cuMemRelease(handle));
    CHECK(cuMemSetAccess(address, piece, &access, 1));
    return address;
}

static void unmap(CUdeviceptr address) {
    CHECK(cuMemUnmap(address, piece));
    CHECK(cuMemAddressFree(address, piece));
}

static void mapped() {
    CUmemAllocationProp properties = {};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemGenericAllocationHandle handle;
    int descriptor = -1;
    CHECK(cuMemCreate(&handle, piece, &properties, 0));
    SAY(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CHECK(cuMemRelease(handle));
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CHECK(cuMemCreate(&handle, piece, &properties, 0));
    CHECK(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CUdeviceptr address = map(handle);
    CHECK(cuMemsetD32(address, 1, count));
    inherit(descriptor);
    pid_t child = start("mapped");
    send(descriptor);
    finish(child);
    std::printf("here %d wrong\n", wrong(reinterpret_cast<int*>(address), 8));
    close(descriptor);
    unmap(address);
}

static void mapped_in_child() {
    intptr_t descriptor = receive<int>();
    CUmemGenericAllocationHandle handle;
    SAY(cuMemImportFromShareableHandle(&handle, nullptr, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    CHECK(cuMemImportFromShareableHandle(&handle, reinterpret_cast<void*>(descriptor),
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    CUdeviceptr address = map(handle);
    add_on(reinterpret_cast<int*>(address), 7);
    CHECK(cudaDeviceSynchronize());
    unmap(address);
}

int main(int argc, char** argv) {
    struct {
        const char* name;
        void (*run)();
        void (*run_in_child)();
    } parts[] = {{"memory", memory, memory_in_child}, {"event", event, event_in_child},    {"gone", gone, gone_in_child},
                 {"pool", pool, pool_in_child},       {"mapped", mapped, mapped_in_child}};
    if (argc < 2) return 2;
    if (argc == 3) other = std::atoi(argv[2]);
    CHECK(cudaSetDevice(0));
    for (auto& part : parts) {
        if (!std::strcmp(argv[1], part.name)) (argc == 3 ? part.run_in_child : part.run)();
    }
}
