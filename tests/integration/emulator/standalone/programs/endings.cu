// Ends in many ways while better code is made for its kernel, with 7 where it has the choice.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <cuda_runtime.h>
__global__ void big(float* a, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x[24];
    for (int k = 0; k < 24; k++) x[k] = a[(i + k) % n];
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < 24; k++) { x[k] = x[k] * x[(k + 1) % 24] + x[(k + 5) % 24] * 0.25f; if (x[k] > 2.f) x[k] -= 1.f; }
    }
    float s = 0;
    for (int k = 0; k < 24; k++) s += x[k];
    a[i] = s;
}
static float* d;
static const int n = 1 << 12;
static void launch() { big<<<n / 256, 256>>>(d, n, 500); cudaDeviceSynchronize(); }
// Runs at exit(). Whatever the runtime has of this thread must still be there: else a launch writes to freed memory, which
// the allocations find.
struct Late {
    ~Late() {
        for (int k = 0; d && k < 5; k++) {
            launch();
            for (size_t size = 16; size <= 512; size += 16) {
                void* some[3] = {malloc(size), malloc(size), malloc(size)};
                for (void* each : some) memset(each, 0x5a, size);
                for (void* each : some) free(each);
            }
        }
    }
} late;

__device__ int counter = 5;
__constant__ int scale = 3;
__managed__ int both = 7;
__global__ void count(int* out) { *out = ++counter * scale + both; }
__global__ void take(int** out) { *out = (int*)malloc(16); **out = 4; }

// Twice the same, as the device begins anew in between.
static int use_twice() {
    int *cell, host = 0, **pointer;
    cudaStream_t stream;
    cudaEvent_t event;
    for (int i = 0; i < 2; i++) {
        cudaStreamCreate(&stream);
        cudaEventCreate(&event);
        cudaMalloc(&cell, 4);
        cudaMalloc(&pointer, 8);
        count<<<1, 1, 0, stream>>>(cell);
        take<<<1, 1, 0, stream>>>(pointer);
        cudaEventRecord(event, stream);
        int error = cudaDeviceSynchronize();
        cudaMemcpy(&host, cell, 4, cudaMemcpyDeviceToHost);
        printf("%d %d\n", error, host);
        host = 11;
        cudaMemcpyToSymbol(scale, &host, 4);
        cudaFree(pointer);
        cudaDeviceReset();
    }
    printf("%s\n", cudaGetErrorName(cudaMemcpy(&host, cell, 4, cudaMemcpyDeviceToHost)));
    printf("%s\n", cudaGetErrorName(cudaStreamDestroy(stream)));
    printf("%s\n", cudaGetErrorName(cudaEventRecord(event)));
    d = nullptr;
    return 7;
}

int main(int, char** argv) {
    if (cudaMalloc(&d, n * 4)) return 1;
    cudaMemset(d, 0, n * 4);
    const char* how = argv[1];
    if (!strcmp(how, "reset")) return use_twice();
    for (int i = 0; i < 3; i++) launch();
    if (!strcmp(how, "exit")) exit(7);
    if (!strcmp(how, "_exit")) _exit(7);
    if (!strcmp(how, "quick_exit")) quick_exit(7);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "kill")) raise(SIGTERM);
    if (!strcmp(how, "thread")) {
        std::thread([] { usleep(20000); exit(7); }).detach();
        for (;;) launch();
    }
    return 7;
}
