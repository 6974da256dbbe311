// Memory that the host and the device share: the host uses it before, or after, it has waited for the device.

#include <cuda_runtime.h>

__global__ void fill(int* to, int value) {
    to[threadIdx.x] = value;  // fill
}

__global__ void raise(volatile int* flag) {
    __threadfence_system();
    *flag = 1;
}

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
