// Accesses of constant, parameter and local memory by address, good and bad ones; and what kernels hand over by address.
#include <cuda_runtime.h>

#include <cstdio>

using Word = unsigned long long;

__constant__ int table[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

struct Sixteen {
    int value[16];
};

__device__ int load_const(Word address) {
    int value;
    asm volatile("ld.const.b32 %0, [%1];" : "=r"(value) : "l"(address));  // constant load
    return value;
}

__device__ int load_param(Word address) {
    int value;
    asm volatile("ld.param.b32 %0, [%1];" : "=r"(value) : "l"(address));  // parameter load
    return value;
}

__global__ void looks_up(const int* at, int* out) { out[threadIdx.x] = table[at[threadIdx.x]]; }  // look-up

__global__ void looks_up_one(int at, int* out) { out[threadIdx.x] = table[at]; }

__global__ void const_by_address(const int* from, int* out) { out[threadIdx.x] = load_const((Word)(from + threadIdx.x)); }

__global__ void const_of_its_own(int* out) {
    Word address;
    asm("{ .reg .b64 a; cvta.const.u64 a, table; cvta.to.const.u64 %0, a; }" : "=l"(address));
    out[threadIdx.x] = load_const(address + 4 * (threadIdx.x % 16)) + *(const volatile int*)(table + threadIdx.x % 16);
}

__global__ void writes_constant(int* out) {
    Word address;
    asm("cvta.const.u64 %0, table;" : "=l"(address));
    *(volatile int*)address = 1;  // constant write
    out[threadIdx.x] = table[0];
}

__constant__ int filled[32];
__global__ void fills(int* to) { to[threadIdx.x] = 100 + threadIdx.x; }
__global__ void reads_filled(int* out) { out[threadIdx.x] = filled[threadIdx.x] + filled[3]; }

__global__ void indexed_struct(const __grid_constant__ Sixteen given, const int* at, int* out) {
    out[threadIdx.x] = given.value[at[threadIdx.x]];
}

__global__ void param_by_address(const int* from, int* out) { out[threadIdx.x] = load_param((Word)(from + threadIdx.x)); }

extern "C" __global__ void param_at(int* out, int offset) {
    Word address;
    asm("mov.b64 %0, param_at_param_0;" : "=l"(address));
    out[threadIdx.x] = load_param(address + offset);
}

extern "C" __global__ void param_write(int* out, int value) {
    asm volatile("{ .reg .b64 a; mov.b64 a, param_write_param_1; st.param.b32 [a], %0; }" ::"r"(threadIdx.x));  // parameter write
    int now;
    asm volatile("ld.param.b32 %0, [param_write_param_1];" : "=r"(now));
    out[threadIdx.x] = now + value;
}

extern "C" __global__ void param_symbol_far(int* out) {
    int value;
    asm volatile("ld.param.b32 %0, [param_symbol_far_param_0+268435456];" : "=r"(value));  // far parameter
    out[threadIdx.x] = value;
}

extern "C" __global__ void param_symbol_near(int* out) {
    int value;
    asm volatile("ld.param.b32 %0, [param_symbol_near_param_0+8];" : "=r"(value));  // next parameter
    out[threadIdx.x] = value;
}

#define LOCAL(name, displacement)                                                                                \
    __global__ void name(int* out) {                                                                             \
        int value;                                                                                               \
        asm volatile("{ .local .align 4 .b8 own[16]; st.local.b32 [own" displacement "], %1; ld.local.b32 %0, [own" \
                     displacement "]; }" : "=r"(value) : "r"(threadIdx.x));                                      \
        out[threadIdx.x] = value;                                                                                \
    }
LOCAL(local_inside, "+12")
LOCAL(local_behind, "+16")
LOCAL(local_far, "+268435456")
LOCAL(local_before, "+-4")

__global__ void const_symbol_far(int* out) {
    int value;
    asm volatile("ld.const.b32 %0, [table+64];" : "=r"(value));  // behind the table
    out[threadIdx.x] = value;
}

__device__ __noinline__ int sum_of(Sixteen given, const int* at) {
    return given.value[at[threadIdx.x] & 15] + given.value[at[threadIdx.x + 1] & 15];
}

__global__ void struct_of_a_call(const int* at, int* out) {
    Sixteen own;
    for (int i = 0; i < 16; ++i) own.value[i] = i + (int)threadIdx.x;
    out[threadIdx.x] = sum_of(own, at);
}

__global__ void barrier_number(int number, int* out) {
    asm volatile("bar.sync %0;" ::"r"(number) : "memory");  // numbered barrier
    out[threadIdx.x] = 1;
}

__global__ void arrival_number(int number, int* out) {
    if (threadIdx.x < 32) asm volatile("bar.arrive %0, 64;" ::"r"(number) : "memory");
    out[threadIdx.x] = 1;
}

__constant__ char format[] = "%d %s\n";

__global__ void prints_from(const char* arguments) {
    Word text;
    asm("cvta.const.u64 %0, format;" : "=l"(text));
    asm volatile("{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %0; st.param.b64 [b], %1; "
                 "call.uni (r), vprintf, (a, b); }" ::"l"(text), "l"(arguments));  // print
    if (!text) printf("nothing");
}

__global__ void prints(const char* text) { printf("%s\n", text); }  // print a string

#define RUN(name, parameters, ...)         \
    extern "C" int run_##name parameters { \
        name __VA_ARGS__;                  \
        return cudaDeviceSynchronize();    \
    }

RUN(looks_up, (const int* at, int* out), <<<1, 32>>>(at, out))
RUN(looks_up_one, (int at, int* out), <<<1, 32>>>(at, out))
RUN(const_by_address, (const int* from, int* out), <<<1, 32>>>(from, out))
RUN(const_of_its_own, (int* out), <<<1, 32>>>(out))
RUN(writes_constant, (int* out), <<<1, 32>>>(out))
RUN(param_by_address, (const int* from, int* out), <<<1, 32>>>(from, out))
RUN(param_at, (int* out, int offset), <<<1, 32>>>(out, offset))
RUN(param_write, (int* out, int value), <<<1, 32>>>(out, value))
RUN(param_symbol_far, (int* out), <<<1, 32>>>(out))
RUN(param_symbol_near, (int* out), <<<1, 32>>>(out))
RUN(local_inside, (int* out), <<<1, 32>>>(out))
RUN(local_behind, (int* out), <<<1, 32>>>(out))
RUN(local_far, (int* out), <<<1, 32>>>(out))
RUN(local_before, (int* out), <<<1, 32>>>(out))
RUN(const_symbol_far, (int* out), <<<1, 32>>>(out))
RUN(struct_of_a_call, (const int* at, int* out), <<<1, 32>>>(at, out))
RUN(barrier_number, (int number, int* out, int threads), <<<1, threads>>>(number, out))
RUN(arrival_number, (int number, int* out), <<<1, 64>>>(number, out))
RUN(prints_from, (const char* arguments), <<<1, 1>>>(arguments))
RUN(prints, (const char* text), <<<1, 1>>>(text))

extern "C" int run_fills_constant(int* out) {
    void* address = nullptr;
    if (cudaGetSymbolAddress(&address, filled) != cudaSuccess) return -1;
    fills<<<1, 32>>>(static_cast<int*>(address));
    reads_filled<<<1, 32>>>(out);
    return cudaDeviceSynchronize();
}

extern "C" int run_indexed_struct(const int* at, int* out) {
    Sixteen given;
    for (int i = 0; i < 16; ++i) given.value[i] = 100 + i;
    indexed_struct<<<1, 32>>>(given, at, out);
    return cudaDeviceSynchronize();
}
