// A whole program: what it does is its first argument's choice.

#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void greet(int n) { printf("hello from %d of %d\n", threadIdx.x, n); }

__global__ void spin(volatile int *flag) {
    while (*flag == 0) {
    }
}

__global__ void check(int n) { assert(n == 0); }

__global__ void race(int *out) {
    __shared__ int cells[64];
    cells[threadIdx.x] = out[threadIdx.x];
    out[threadIdx.x] = cells[63 - threadIdx.x];
}

__device__ int counter = 40;
__device__ int *pointer = &counter;

__global__ void count() { atomicAdd(pointer, 1); }

constexpr int n = 1000;

// Returns how many elements of a + b are wrong.
int add_on_device(int size = n, int blocks = 4) {
    std::vector<float> a(n, 1.0f), b(n, 2.0f), c(n);
    float *device[3];
    for (float *&it : device) cudaMalloc(&it, n * sizeof(float));
    cudaMemcpy(device[0], a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device[1], b.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    add<<<blocks, 256>>>(device[0], device[1], device[2], size);
    cudaMemcpy(c.data(), device[2], n * sizeof(float), cudaMemcpyDeviceToHost);
    for (float *it : device) cudaFree(it);
    int wrong = 0;
    for (float value : c) wrong += value != 3.0f;
    return wrong;
}

int report(const char *who, int wrong) {
    std::printf("%s: %d wrong\n", who, wrong);
    return wrong != 0;
}

int run_leak() {
    float *kept;
    cudaMalloc(&kept, 1234);
    return add_on_device();
}

int run_misuse() {
    float *pointer, *other;
    float host[16];
    cudaMalloc(&pointer, 64);
    cudaMalloc(&other, 64);
    cudaMemcpy(host, pointer, 128, cudaMemcpyDeviceToHost);
    cudaMemcpy(pointer, host, 64, cudaMemcpyDeviceToHost);
    add<<<1, 2048>>>(pointer, pointer, pointer, 16);
    add<<<0, 32>>>(pointer, pointer, pointer, 16);
    add<<<1, 32, 1 << 20>>>(pointer, pointer, pointer, 16);
    cudaFree(pointer + 1);
    cudaFree(pointer);
    cudaFree(pointer);
    cudaFree(host);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaStreamDestroy(stream);
    cudaMemcpyAsync(other, host, 64, cudaMemcpyHostToDevice, stream);
    cudaEvent_t event;
    cudaEventCreate(&event);
    cudaEventDestroy(event);
    cudaEventRecord(event);
    if (cudaMalloc(&pointer, size_t{1} << 50) != cudaSuccess) std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    cudaFree(other);
    return 0;
}

// Errors of which there is no more to say than their code: told only where nobody asks.
int run_unchecked(bool look) {
    int value;
    cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(12345), 0);
    if (look) std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    return 0;
}

// Too much, and nobody asks.
int run_greedy() {
    float *pointer = nullptr;
    cudaMalloc(&pointer, 1ull << 50);
    cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20);
    return 0;
}

int run_fork(bool used_before) {
    if (used_before && add_on_device()) return 1;
    std::fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        float *pointer;
        cudaError_t error = cudaMalloc(&pointer, 64);
        std::printf("child: %s\n", cudaGetErrorName(error));
        int code = error ? 5 : report("child", add_on_device());
        std::fflush(stdout);
        std::exit(code);
    }
    int status = 0;
    waitpid(child, &status, 0);
    int wrong = report("parent", add_on_device());
    return wrong ? wrong : WEXITSTATUS(status);
}

int run_threads() {
    std::vector<int> wrong(4);
    std::vector<std::thread> threads;
    for (int &it : wrong) threads.emplace_back([&it] { for (int i = 0; i < 5; ++i) it += add_on_device(); });
    for (std::thread &it : threads) it.join();
    int all = 0;
    for (int it : wrong) all += it;
    return report("threads", all);
}

struct Owner {
    float *pointer = nullptr;
    ~Owner() { cudaFree(pointer); }
};

// Freed by a destructor that runs after main().
Owner owner;

int run_symbols() {
    int value = 0;
    count<<<1, 2>>>();
    cudaMemcpyFromSymbol(&value, counter, sizeof value);
    std::printf("counter %d\n", value);
    return 0;
}

// Prints the milliseconds between pairs of events: around nothing, one launch, and three.
int run_events() {
    cudaEvent_t from, to;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    for (int launches : {0, 1, 3}) {
        cudaEventRecord(from);
        for (int i = 0; i < launches; ++i) count<<<1, 32>>>();
        cudaEventRecord(to);
        float ms = 0;
        cudaEventSynchronize(to);
        cudaEventElapsedTime(&ms, from, to);
        std::printf("%.9g\n", ms);
    }
    cudaEventDestroy(from);
    return cudaEventDestroy(to);
}

int run_early() {
    int *shared;
    cudaMallocManaged(&shared, 64 * sizeof(int));
    race<<<1, 64>>>(shared);
    int sum = shared[0];  // too early
    cudaDeviceSynchronize();
    sum -= shared[0];
    cudaFree(shared);
    return sum;
}

__global__ void twice(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }

// The system reads and writes memory that the device may use: another buffer meanwhile, and this one when it is done, or too early.
int run_files(bool early) {
    constexpr size_t count = 4096, size = count * sizeof(int);
    int *one, *other;
    cudaMallocHost(&one, size);
    cudaMallocHost(&other, size);
    for (size_t i = 0; i < count; ++i) one[i] = static_cast<int>(i);
    std::FILE *file = std::tmpfile();
    size_t moved = std::fwrite(one, sizeof(int), count, file);
    twice<<<count / 256, 256>>>(one);
    std::rewind(file);
    moved += std::fread(other, sizeof(int), count, file);
    if (early) std::printf("%zd\n", write(fileno(file), one, size));  // written too early
    twice<<<count / 256, 256>>>(other);
    cudaDeviceSynchronize();
    twice<<<1, 256>>>(other);
    if (pwrite(fileno(file), one, size, 0) != size || pread(fileno(file), one, size, 0) != size) return 1;
    cudaDeviceSynchronize();
    if (moved != 2 * count || one[count - 1] != 2 * (count - 1) || other[count - 1] != 2 * (count - 1)) return 2;
    std::fclose(file);
    cudaFreeHost(one);
    cudaFreeHost(other);
    return 0;
}

int main(int argc, char **argv) {
    std::string what = argc > 1 ? argv[1] : "add";
    if (what == "add") return report("add", add_on_device());
    if (what == "bounds") return report("bounds", add_on_device(n + 1));
    if (what == "events") return run_events();
    if (what == "early") return run_early();
    if (what == "files") return run_files(false);
    if (what == "early-files") return run_files(true);
    if (what == "leak") return report("leak", run_leak());
    if (what == "misuse") return run_misuse();
    if (what == "unchecked") return run_unchecked(false);
    if (what == "greedy") return run_greedy();
    if (what == "checked") return run_unchecked(true);
    if (what == "fork") return run_fork(false);
    if (what == "fork-after-use") return run_fork(true);
    if (what == "threads") return run_threads();
    if (what == "symbols") return run_symbols();
    if (what == "exit") std::thread([] { add_on_device(); std::exit(7); }).join();
    if (what == "owner") return cudaMalloc(&owner.pointer, 64);
    if (what == "greet") {
        std::printf("before\n");
        greet<<<1, 2>>>(argc);
        std::printf("after\n");
        return cudaDeviceSynchronize();
    }
    if (what == "none") return 9;
    int *cell;
    cudaMalloc(&cell, 64 * sizeof(int));
    if (what == "touch") std::printf("%d\n", cell[1]);
    cudaMemset(cell, 0, 64 * sizeof(int));
    if (what == "abort") {
        add_on_device();
        std::abort();
    }
    if (what == "null") return *reinterpret_cast<volatile int *>(argc - 2);
    if (what == "kill") {
        add_on_device();
        raise(SIGKILL);
    }
    if (what == "spin") spin<<<1, 32>>>(cell);
    if (what == "assert") check<<<1, 32>>>(1);
    if (what == "race") race<<<1, 64>>>(cell);
    cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorName(error));
    cudaFree(cell);
    return error != cudaSuccess;
}
