// Memory that the host and the device share: the host uses it before, or after, it has waited for the device.

#include <cuda_runtime.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

__global__ void fill(int* to, int value) {
    to[threadIdx.x] = value;  // fill
}

__global__ void raise(volatile int* flag) {
    __threadfence_system();
    *flag = 1;
}

__global__ void count(int* to) {
    atomicAdd(to, 1);  // count
}

__global__ void answer(int* data, int* flag) {
    *data = 7;
    __threadfence_system();
    atomicExch_system(flag, 1);
}

__managed__ int managed;

#define CASE(name) extern "C" int run_##name(int* memory)

struct Pinned {
    int* at = nullptr;
    Pinned() {
        cudaMallocHost(&at, 1024);
        for (int i = 0; i < 256; ++i) at[i] = 3;
    }
    ~Pinned() { cudaFreeHost(at); }
};

CASE(wrong_mapped) {
    Pinned pinned;
    fill<<<1, 256>>>(pinned.at, 7);
    int seen = pinned.at[5];  // wrong_mapped
    cudaDeviceSynchronize();
    return seen;
}

CASE(wrong_managed) {
    int* at = nullptr;
    cudaMallocManaged(&at, 1024);
    for (int i = 0; i < 256; ++i) at[i] = 3;
    fill<<<1, 256>>>(at, 7);
    int seen = at[5];  // wrong_managed
    cudaDeviceSynchronize();
    cudaFree(at);
    return seen;
}

CASE(wrong_copy_to_host) {
    Pinned pinned;
    fill<<<1, 256>>>(memory, 7);
    cudaMemcpyAsync(pinned.at, memory, 1024, cudaMemcpyDeviceToHost, 0);
    int seen = pinned.at[5];  // wrong_copy_to_host
    cudaDeviceSynchronize();
    return seen;
}

CASE(wrong_source_written) {
    Pinned pinned;
    for (int i = 0; i < 256; ++i) pinned.at[i] = 7;
    cudaMemcpyAsync(memory, pinned.at, 1024, cudaMemcpyHostToDevice, 0);
    pinned.at[5] = 3;  // wrong_source_written
    cudaDeviceSynchronize();
    int seen;
    cudaMemcpy(&seen, memory + 5, 4, cudaMemcpyDeviceToHost);
    return seen;
}

CASE(wrong_managed_variable) {
    managed = 3;
    fill<<<1, 1>>>(&managed, 7);
    int seen = managed;  // wrong_managed_variable
    cudaDeviceSynchronize();
    return seen;
}

CASE(wrong_registered) {
    constexpr size_t bytes = 16384;
    int* at = static_cast<int*>(aligned_alloc(4096, bytes));
    for (int i = 0; i < 4096; ++i) at[i] = 3;
    cudaHostRegister(at, bytes, 0);
    fill<<<1, 256>>>(at, 7);
    int seen = at[5];  // wrong_registered
    cudaHostUnregister(at);
    free(at);
    return seen;
}

CASE(wrong_counter) {
    Pinned pinned;
    pinned.at[0] = 3;
    count<<<1, 1>>>(pinned.at);
    int seen = pinned.at[0];  // wrong_counter
    cudaDeviceSynchronize();
    return seen;
}

CASE(wrong_in_a_function_of_the_system) {
    Pinned pinned;
    int seen[256];
    fill<<<1, 256>>>(pinned.at, 7);
    memcpy(seen, pinned.at, memory ? 1024 : 1);  // wrong_in_a_function_of_the_system
    cudaDeviceSynchronize();
    return seen[0];
}

// The event is in front of the kernel, and the other stream has nothing to do with it.
CASE(wrong_things_waited_for) {
    Pinned pinned;
    cudaStream_t one, two;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaEventCreate(&event);
    cudaEventRecord(event, one);
    fill<<<1, 256, 0, one>>>(pinned.at, 7);
    fill<<<1, 256, 0, two>>>(memory, 7);
    cudaStreamSynchronize(two);
    cudaEventSynchronize(event);
    cudaStreamSynchronize(0);
    int seen = pinned.at[5];  // wrong_things_waited_for
    cudaDeviceSynchronize();
    cudaEventDestroy(event);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
    return seen;
}

CASE(wrong_graph) {
    Pinned pinned;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    fill<<<1, 256, 0, stream>>>(pinned.at, 7);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    pinned.at[5] = 3;
    cudaGraphLaunch(ready, stream);
    int seen = pinned.at[5];  // wrong_graph
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    return seen;
}

CASE(right_mapped) {
    Pinned pinned;
    fill<<<1, 256>>>(pinned.at, 7);
    cudaDeviceSynchronize();
    return pinned.at[5];
}

CASE(right_managed) {
    int* at = nullptr;
    cudaMallocManaged(&at, 1024);
    at[5] = 3;
    fill<<<1, 256>>>(at, 7);
    cudaStreamSynchronize(0);
    int seen = at[5];
    cudaFree(at);
    return seen;
}

CASE(right_copy_to_host) {
    Pinned pinned;
    cudaEvent_t event;
    cudaEventCreate(&event);
    fill<<<1, 256>>>(memory, 7);
    cudaMemcpyAsync(pinned.at, memory, 1024, cudaMemcpyDeviceToHost, 0);
    cudaEventRecord(event);
    cudaEventSynchronize(event);
    int seen = pinned.at[5];
    cudaEventDestroy(event);
    return seen;
}

CASE(right_other_part) {
    Pinned one, two;
    for (int i = 0; i < 256; ++i) one.at[i] = 7;
    cudaMemcpyAsync(memory, one.at, 1024, cudaMemcpyHostToDevice, 0);
    for (int i = 0; i < 256; ++i) two.at[i] = one.at[i];  // reads what is copied from, which is fine
    cudaMemcpyAsync(memory, two.at, 1024, cudaMemcpyHostToDevice, 0);
    cudaDeviceSynchronize();
    return two.at[5];
}

CASE(right_synchronous) {
    Pinned pinned;
    fill<<<1, 256>>>(memory, 7);
    cudaMemcpy(pinned.at, memory, 1024, cudaMemcpyDeviceToHost);
    return pinned.at[5];
}

// The host may wait for what a kernel writes to memory that both see.
CASE(right_polled) {
    Pinned pinned;
    volatile int* flag = pinned.at;
    *flag = 0;
    raise<<<1, 1>>>(pinned.at);
    while (!*flag) {
    }
    cudaDeviceSynchronize();
    return 7;
}

// What it writes before its flag is there with the flag.
CASE(right_polled_data) {
    Pinned pinned;
    int* flag = pinned.at + 128;
    *flag = 0;
    answer<<<1, 1>>>(pinned.at, flag);
    while (!*static_cast<volatile int*>(flag)) {
    }
    int seen = *static_cast<volatile int*>(pinned.at);
    cudaDeviceSynchronize();
    return seen;
}

CASE(right_queries) {
    Pinned one, two;
    cudaStream_t stream;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreate(&event);
    fill<<<1, 256, 0, stream>>>(one.at, 7);
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
    int seen = one.at[5];
    fill<<<1, 256, 0, stream>>>(two.at, 7);
    cudaEventRecord(event, stream);
    fill<<<1, 256, 0, stream>>>(memory, 7);
    while (cudaEventQuery(event) == cudaErrorNotReady) {
    }
    seen = seen == 7 ? two.at[5] : seen;
    cudaDeviceSynchronize();
    cudaEventDestroy(event);
    cudaStreamDestroy(stream);
    return seen;
}

CASE(right_default_stream) {
    Pinned pinned;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    fill<<<1, 256, 0, stream>>>(pinned.at, 7);
    int seen;
    cudaMemcpyAsync(&seen, pinned.at, 4, cudaMemcpyDefault, cudaStreamLegacy);
    if (seen == 7) seen = pinned.at[5];
    cudaStreamDestroy(stream);
    return seen;
}

CASE(right_host_function) {
    Pinned pinned;
    volatile int done = 0;
    fill<<<1, 256>>>(pinned.at, 7);
    cudaLaunchHostFunc(0, [](void* done) { *static_cast<volatile int*>(done) = 1; }, (void*)&done);
    while (!done) {
    }
    int seen = pinned.at[5];
    cudaDeviceSynchronize();
    return seen;
}

CASE(right_host_function_reads) {
    Pinned pinned;
    fill<<<1, 256>>>(pinned.at, 7);
    cudaLaunchHostFunc(0, [](void* at) { static_cast<int*>(at)[6] = static_cast<int*>(at)[5]; }, pinned.at);
    cudaStreamSynchronize(0);
    return pinned.at[6];
}

CASE(right_callback) {
    Pinned pinned;
    fill<<<1, 256>>>(pinned.at, 7);
    auto copy = [](cudaStream_t, cudaError_t, void* at) { static_cast<int*>(at)[6] = static_cast<int*>(at)[5]; };
    cudaStreamAddCallback(0, copy, pinned.at, 0);
    cudaDeviceSynchronize();
    return pinned.at[6];
}

// The host prepares what comes next in the same page.
CASE(right_same_page) {
    Pinned pinned;
    int sum = 0;
    fill<<<1, 128>>>(pinned.at, 7);
    for (int i = 128; i < 256; ++i) pinned.at[i] = i;
    for (int i = 128; i < 256; ++i) sum += pinned.at[i] - i;
    cudaDeviceSynchronize();
    return sum ? sum : pinned.at[5];
}

CASE(right_other_streams) {
    Pinned one, two;
    cudaStream_t streams[2];
    for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int seen = 7;
    for (int round = 0; round < 4 && seen == 7; ++round) {
        Pinned& pinned = round % 2 ? two : one;
        cudaStream_t stream = streams[round % 2];
        cudaStreamSynchronize(stream);
        for (int i = 0; i < 256; ++i) pinned.at[i] = 3;
        fill<<<1, 256, 0, stream>>>(pinned.at, 7);
        cudaStreamSynchronize(stream);
        seen = pinned.at[5];
        fill<<<1, 256, 0, stream>>>(pinned.at, 7);
    }
    for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
    cudaDeviceSynchronize();
    return seen;
}

// System calls read what the device only reads, and write beside what it writes. The number of bytes that they could use.
extern "C" int system_calls(int* memory) {
    int* at = nullptr;
    int pipes[2];
    if (pipe(pipes) || cudaMallocHost(&at, 1 << 16)) return -1;
    for (int i = 0; i < 1 << 14; ++i) at[i] = 3;
    cudaMemcpyAsync(memory, at, 1024, cudaMemcpyHostToDevice, 0);
    ssize_t used = write(pipes[1], at, 1024);
    cudaMemcpyAsync(at, at + (1 << 13), 4096 + 4, cudaMemcpyDefault, 0);
    used += read(pipes[0], at + 1024 + 1, 1024);
    cudaDeviceSynchronize();
    cudaFreeHost(at);
    close(pipes[0]);
    close(pipes[1]);
    return static_cast<int>(used);
}
