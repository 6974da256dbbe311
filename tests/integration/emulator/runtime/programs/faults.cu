// Kernels that do something wrong. Tests look for the lines that are marked.
#include <cassert>

#include <cuda_runtime.h>

__global__ void read_past(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i + 3];  // bad read
}

__global__ void write_past(float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 1.0f;  // bad write
}

__global__ void write_before(float* out) {
    out[-1 - static_cast<int>(threadIdx.x)] = 1.0f;  // bad write before
}

__global__ void read_vector_past(const float4* in, float4* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = in[i];  // bad vector read
}

__global__ void atomic_past(int* out, int at) {
    atomicAdd(&out[at], 1);  // bad atomic
}

__global__ void shared_past(float* out) {
    __shared__ float values[64];
    values[threadIdx.x] = threadIdx.x;  // bad shared write
    __syncthreads();
    out[threadIdx.x % 64] = values[63 - threadIdx.x % 64];
}

__global__ void shared_read_past(float* out, int at) {
    __shared__ float values[64];
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = values[at + threadIdx.x];  // bad shared read
}

__global__ void past_padded(float* out) {
    __shared__ float odd[255];
    odd[threadIdx.x] = threadIdx.x;  // write into the padding
    __syncthreads();
    out[threadIdx.x] = odd[254 - threadIdx.x % 255];
}

// `at` is 0 where all is well: then a pointer may point to either array, and begin behind one.
__global__ void past_first(float* out, int at) {
    __shared__ float first[64];
    __shared__ float second[64];
    first[threadIdx.x] = 1.0f;
    second[threadIdx.x] = 2.0f;
    __syncthreads();
    float* either = threadIdx.x % 2 ? first : second;
    float* behind = first + 64;
    out[threadIdx.x] = either[(threadIdx.x + 1) % 64] + behind[-1 - static_cast<int>(threadIdx.x)];
    __syncthreads();
    first[threadIdx.x + at] = 3.0f;  // write into the next array
    out[threadIdx.x] += second[threadIdx.x];
}

__global__ void read_past_first(float* out) {
    __shared__ float first[64];
    __shared__ float second[64];
    first[threadIdx.x] = 1.0f;
    second[threadIdx.x] = 2.0f;
    __syncthreads();
    out[threadIdx.x] = first[threadIdx.x + 1] + second[63 - threadIdx.x];  // read from the next array
}

__global__ void before_dynamic(float* out) {
    __shared__ float fixed[64];
    extern __shared__ float d[];
    fixed[threadIdx.x] = 1.0f;
    d[static_cast<int>(threadIdx.x) - 1] = 2.0f;  // write before the dynamic array
    __syncthreads();
    out[threadIdx.x] = fixed[63 - threadIdx.x] + d[threadIdx.x];
}

__global__ void misaligned(char* out) {
    *reinterpret_cast<int*>(out + 2) = 1;  // misaligned
}

__global__ void store(int* to) {
    *to = 1;  // store
}

__global__ void load(const int* from, int* to) {
    *to = *from;  // load
}

__global__ void many_sites(float* out, int n) {
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
    out[n++] = 1.0f;
}

__global__ void asserts(int x) {
    assert(x == 1);
}

__global__ void traps(int x) {
    if (x) __trap();  // trap
}

__global__ void polls_forever(volatile int* flag) {
    while (*flag == 0) {
    }
}

__global__ void computes_forever(float* value) {
    float x = *value;
    while (x < 2) x = x * 0.5f;
    *value = x;
}

__global__ void half_a_barrier(int* out) {
    asm volatile("barrier.sync 1, 64;");
    out[threadIdx.x] = 1;
}


__global__ void sums_what_nobody_wrote(const float* scratch, float* out) {
    __shared__ float part[32];
    if (threadIdx.x < 3) part[threadIdx.x] = 1.0f;
    __syncthreads();
    atomicAdd(&out[0], part[threadIdx.x]);
    atomicMax(reinterpret_cast<int*>(&out[1]), __float_as_int(scratch[threadIdx.x]));
    out[2] = 0.0f * part[31] * scratch[31];
}

#define RUN(name, parameters, ...)         \
    extern "C" int run_##name parameters { \
        name __VA_ARGS__;                  \
        return cudaDeviceSynchronize();    \
    }

__global__ void frees(int* keep, int inside) {
    int* piece = static_cast<int*>(malloc(64));
    keep[0] = piece != nullptr;
    if (!inside) free(piece);
    free(piece + inside);  // bad free
}

RUN(frees, (int* keep, int inside), <<<1, 1>>>(keep, inside))
RUN(read_past, (const float* in, float* out, int n), <<<(n + 127) / 128, 128>>>(in, out, n))
RUN(write_past, (float* out, int blocks), <<<blocks, 128>>>(out))
RUN(write_before, (float* out), <<<1, 32>>>(out))
RUN(read_vector_past, (const float4* in, float4* out, int n), <<<1, 32>>>(in, out, n))
RUN(atomic_past, (int* out, int at), <<<1, 32>>>(out, at))
RUN(shared_past, (float* out, int threads), <<<1, threads>>>(out))
RUN(shared_read_past, (float* out, int at), <<<1, 64>>>(out, at))
RUN(past_padded, (float* out, int threads), <<<1, threads>>>(out))
RUN(past_first, (float* out, int at), <<<1, 64>>>(out, at))
RUN(read_past_first, (float* out), <<<1, 64>>>(out))
RUN(before_dynamic, (float* out), <<<1, 64, 256>>>(out))
RUN(misaligned, (char* out), <<<1, 1>>>(out))
RUN(store, (int* to), <<<1, 1>>>(to))
RUN(load, (const int* from, int* to), <<<1, 1>>>(from, to))
RUN(many_sites, (float* out, int n), <<<1, 1>>>(out, n))
RUN(asserts, (int x), <<<2, 32>>>(x))
RUN(traps, (int x), <<<1, 32>>>(x))
RUN(polls_forever, (int* flag), <<<4, 64>>>(flag))
RUN(computes_forever, (float* value), <<<4, 64>>>(value))
RUN(half_a_barrier, (int* out), <<<1, 32>>>(out))

extern "C" int run_untouched(float* out) {
    float* scratch;
    cudaMalloc(&scratch, 32 * sizeof(float));
    sums_what_nobody_wrote<<<1, 32>>>(scratch, out);
    return cudaFree(scratch);
}
