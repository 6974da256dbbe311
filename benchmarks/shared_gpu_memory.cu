// What a trusted process on the same GPU would cost, whose memory the jailed one only maps: a spike for
// docs/decisions/0010-a-trusted-process-on-the-gpu.md. Builds and runs by
//
//     nvcc -O2 -std=c++17 -o /tmp/shared_gpu_memory benchmarks/shared_gpu_memory.cu -lcuda && /tmp/shared_gpu_memory
//
// Two processes: the trusted one allocates device memory (cuMemCreate), exports it as a descriptor and sends that over a
// socket; the other maps it. Prints what mappings permit, and the microseconds of each step between two calls.
#include <cuda.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr size_t INPUT_BYTES = 256ul << 20, SWEPT_BYTES = 256ul << 20;
constexpr int ROUNDS = 50;

void check(CUresult code, const char* what) {
    if (code == CUDA_SUCCESS) return;
    const char* name = "?";
    cuGetErrorName(code, &name);
    printf("%s: %s\n", what, name);
    exit(1);
}
#define CHECK(call) check(call, #call)

double now_us() {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

__global__ void fill(uint4* data, size_t pieces, unsigned seed) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < pieces; i += gridDim.x * (size_t)blockDim.x) {
        data[i] = make_uint4(i * 2654435761u + seed, i ^ seed, seed, i);
    }
}

__global__ void read(const uint4* data, size_t pieces, unsigned* out) {
    unsigned seen = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < pieces; i += gridDim.x * (size_t)blockDim.x) {
        const uint4 four = data[i];
        seen ^= four.x ^ four.y ^ four.z ^ four.w;
    }
    if (seen == 1) *out = seen;
}

// The primary context, so that launches by the runtime share it.
void open_device() {
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
}

CUmemAllocationProp properties() {
    CUmemAllocationProp wanted = {};
    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return wanted;
}

CUresult map(CUmemGenericAllocationHandle handle, size_t size, CUmemAccess_flags flags, CUdeviceptr* address) {
    CHECK(cuMemAddressReserve(address, size, 0, 0, 0));
    CHECK(cuMemMap(*address, size, 0, handle, 0));
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
    return cuMemSetAccess(*address, size, &access, 1);
}

void send_descriptor(int channel, int descriptor) {
    char byte = 0, room[CMSG_SPACE(sizeof(int))] = {};
    iovec part = {&byte, 1};
    msghdr message = {};
    message.msg_iov = &part, message.msg_iovlen = 1, message.msg_control = room, message.msg_controllen = sizeof room;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    if (sendmsg(channel, &message, 0) != 1) exit(1);
}

int receive_descriptor(int channel) {
    char byte, room[CMSG_SPACE(sizeof(int))];
    iovec part = {&byte, 1};
    msghdr message = {};
    message.msg_iov = &part, message.msg_iovlen = 1, message.msg_control = room, message.msg_controllen = sizeof room;
    int descriptor = -1;
    if (recvmsg(channel, &message, 0) != 1) exit(1);
    memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
    return descriptor;
}

template <class T>
void tell(int channel, T value) {
    if (write(channel, &value, sizeof value) != sizeof value) exit(1);
}
template <class T>
T hear(int channel) {
    T value;
    if (::read(channel, &value, sizeof value) != sizeof value) exit(1);
    return value;
}

// Tells whether a kernel of this process can write to what it maps read-only. A process of its own: a fault ends it.
void try_writing(int channel, bool upgrade) {
    const int descriptor = receive_descriptor(channel);
    auto give = [&](const char* words, CUresult code) {
        const char* name = "?";
        cuGetErrorName(code, &name);
        char text[128] = {};
        snprintf(text, sizeof text, "%s (%s)", words, name);
        if (write(channel, text, sizeof text) != sizeof text) _exit(1);
        _exit(0);
    };
    open_device();
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    CHECK(cuMemImportFromShareableHandle(&handle, (void*)(long)descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    const CUresult mapped = map(handle, INPUT_BYTES, CU_MEM_ACCESS_FLAGS_PROT_READ, &address);
    if (mapped != CUDA_SUCCESS) give("no read-only mapping", mapped);
    if (upgrade) {
        const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        const CUresult upgraded = cuMemSetAccess(address, INPUT_BYTES, &access, 1);
        if (upgraded != CUDA_SUCCESS) give("cannot be made writable", upgraded);
    }
    fill<<<1, 32>>>((uint4*)address, 32, 1);
    const CUresult written = cuCtxSynchronize();
    give(written == CUDA_SUCCESS ? "a kernel writes to it" : "a kernel's write faults", written);
}

// The jailed side: maps what it gets, and makes a call whenever it is told to.
void jailed(int channel) {
    const int descriptor = receive_descriptor(channel);
    open_device();
    const double begun = now_us();
    CUmemGenericAllocationHandle handle;
    CUdeviceptr input, out;
    CHECK(cuMemImportFromShareableHandle(&handle, (void*)(long)descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    CHECK(map(handle, INPUT_BYTES, CU_MEM_ACCESS_FLAGS_PROT_READWRITE, &input));
    const double mapping_us = now_us() - begun;
    CHECK(cuMemAlloc(&out, 4));
    CUevent first, second;
    CHECK(cuEventCreate(&first, 0));
    CHECK(cuEventCreate(&second, 0));
    read<<<1024, 256>>>((const uint4*)input, INPUT_BYTES / 16, (unsigned*)out);
    CHECK(cuCtxSynchronize());
    tell(channel, mapping_us);
    while (hear<int>(channel)) {
        CHECK(cuEventRecord(first, nullptr));
        read<<<1024, 256>>>((const uint4*)input, INPUT_BYTES / 16, (unsigned*)out);
        CHECK(cuEventRecord(second, nullptr));
        CHECK(cuCtxSynchronize());
        float elapsed_ms;
        CHECK(cuEventElapsedTime(&elapsed_ms, first, second));
        tell(channel, 1e3 * elapsed_ms);
    }
    _exit(0);
}

struct Round {
    double prepare_us, call_us, event_us;
};

void report(const char* name, const std::vector<Round>& rounds) {
    std::vector<double> prepare, call, event;
    for (const Round& round : rounds) {
        prepare.push_back(round.prepare_us), call.push_back(round.call_us), event.push_back(round.event_us);
    }
    std::sort(event.begin(), event.end());
    printf("%-58s %9.1f %9.1f %9.1f (%.1f to %.1f)\n", name, median(prepare), median(call), median(event),
           event[event.size() / 10], event[event.size() * 9 / 10]);
}

}  // namespace

int main() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
    // All before this process has a context, which no fork could use.
    const pid_t child = fork();
    if (child == 0) jailed(ends[1]);
    int writers[2];
    for (int upgrade = 0; upgrade < 2; upgrade++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 1;
        if (fork() == 0) try_writing(pair[1], upgrade);
        close(pair[1]);
        writers[upgrade] = pair[0];
    }

    open_device();
    CUmemAllocationProp wanted = properties();
    CUmemGenericAllocationHandle handle;
    CUdeviceptr input, swept, out;
    int descriptor;
    double begun = now_us();
    CHECK(cuMemCreate(&handle, INPUT_BYTES, &wanted, 0));
    CHECK(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CHECK(map(handle, INPUT_BYTES, CU_MEM_ACCESS_FLAGS_PROT_READWRITE, &input));
    printf("create, export and map 256 MiB, trusted side: %.0f us\n", now_us() - begun);
    CHECK(cuMemAlloc(&swept, SWEPT_BYTES));
    CHECK(cuMemAlloc(&out, 4));
    send_descriptor(ends[0], descriptor);
    printf("import and map it, other side: %.0f us\n", hear<double>(ends[0]));

    auto call = [&](int channel) {
        tell(channel, 1);
        return hear<double>(channel);
    };
    printf("\n%-58s %9s %9s %9s\n", "us, medians of 50", "prepare", "call", "events");
    std::vector<Round> warm, cold, made;
    for (int i = 0; i < ROUNDS; i++) {
        begun = now_us();
        const double event_us = call(ends[0]);
        warm.push_back({0, now_us() - begun, event_us});
    }
    report("a call alone (the other process does nothing)", warm);
    for (int i = 0; i < ROUNDS; i++) {
        begun = now_us();
        read<<<1024, 256>>>((const uint4*)swept, SWEPT_BYTES / 16, (unsigned*)out);
        CHECK(cuCtxSynchronize());
        const double prepared = now_us();
        const double event_us = call(ends[0]);
        cold.push_back({prepared - begun, now_us() - prepared, event_us});
    }
    report("after the trusted process swept the L2", cold);
    for (int i = 0; i < ROUNDS; i++) {
        begun = now_us();
        fill<<<1024, 256>>>((uint4*)input, INPUT_BYTES / 16, i);
        read<<<1024, 256>>>((const uint4*)swept, SWEPT_BYTES / 16, (unsigned*)out);
        CHECK(cuCtxSynchronize());
        const double prepared = now_us();
        const double event_us = call(ends[0]);
        made.push_back({prepared - begun, now_us() - prepared, event_us});
    }
    report("after it made the inputs and swept the L2", made);
    tell(ends[0], 0);
    waitpid(child, nullptr, 0);

    std::vector<double> same;
    CUevent first, second;
    CHECK(cuEventCreate(&first, 0));
    CHECK(cuEventCreate(&second, 0));
    for (int i = 0; i < ROUNDS; i++) {
        fill<<<1024, 256>>>((uint4*)input, INPUT_BYTES / 16, i);
        read<<<1024, 256>>>((const uint4*)swept, SWEPT_BYTES / 16, (unsigned*)out);
        CHECK(cuCtxSynchronize());
        CHECK(cuEventRecord(first, nullptr));
        read<<<1024, 256>>>((const uint4*)input, INPUT_BYTES / 16, (unsigned*)out);
        CHECK(cuEventRecord(second, nullptr));
        CHECK(cuCtxSynchronize());
        float elapsed_ms;
        CHECK(cuEventElapsedTime(&elapsed_ms, first, second));
        same.push_back(1e3 * elapsed_ms);
    }
    printf("%-58s %9s %9s %9.1f\n", "the same in one process, by its own events", "", "", median(same));

    const char* questions[] = {"mapped read-only by another process", "and once that process asked for more"};
    for (int upgrade = 0; upgrade < 2; upgrade++) {
        char answer[128] = "the process died";
        send_descriptor(writers[upgrade], descriptor);
        if (::read(writers[upgrade], answer, sizeof answer) <= 0) strcpy(answer, "the process died");
        printf("%s%s: %s\n", upgrade ? "" : "\n", questions[upgrade], answer);
    }
    return 0;
}
