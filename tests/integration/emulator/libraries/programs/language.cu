// What CUDA C++ itself brings: cooperative groups, libcu++, pipelines, halves.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

namespace groups = cooperative_groups;

// Six results to a thread; see test_language.py.
__global__ void group_kernel(const int* in, int* out) {
    auto block = groups::this_thread_block();
    auto warp = groups::tiled_partition<32>(block);
    auto tile = groups::tiled_partition<8>(warp);
    int i = block.group_index().x * block.size() + block.thread_rank(), value = in[i], *to = out + 6 * i;
    to[0] = groups::reduce(warp, value, groups::plus<int>());
    to[1] = groups::reduce(tile, value, groups::greater<int>());
    to[2] = groups::exclusive_scan(tile, value);
    to[3] = groups::inclusive_scan(warp, value, groups::less<int>());
    auto label = groups::labeled_partition(warp, value & 3);
    to[4] = groups::reduce(label, value, groups::plus<int>());
    to[5] = -1;
    if (value % 3 == 0) {
        auto active = groups::coalesced_threads();
        to[5] = active.size() << 16 | active.thread_rank() << 8 | active.shfl(active.thread_rank(), active.size() - 1);
    }
}

// Each block adds its part, all blocks meet, each block reads the sum of all.
__global__ void grid_kernel(const int* in, int* partial, int* out) {
    auto grid = groups::this_grid();
    auto block = groups::this_thread_block();
    atomicAdd(partial + blockIdx.x, in[grid.thread_rank()]);
    grid.sync();
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];
    grid.sync();
    if (block.thread_rank() == 0) out[blockIdx.x] = sum;
}

// A ticket lock of libcu++ atomics, a flag with release and acquire, fetch_max of a 64-bit number.
__device__ cuda::atomic<int, cuda::thread_scope_device> ticket, serving, arrived;
__device__ cuda::atomic<long long, cuda::thread_scope_device> most;
__global__ void atomic_kernel(const int* in, int* counter, long long* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) most.fetch_max(in[i], cuda::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x == 0) {
        int mine = ticket.fetch_add(1);
        while (serving.load(cuda::memory_order_acquire) != mine) {
        }
        *counter += mine;
        serving.store(mine + 1, cuda::memory_order_release);
        if (arrived.fetch_add(1, cuda::memory_order_acq_rel) == int(gridDim.x) - 1) {
            *out = most.exchange(-1);
            ticket = serving = arrived = 0;
        }
    }
}

// Tiles through shared memory, two stages in flight.
__global__ void pipeline_kernel(const float* in, float* out, int tiles) {
    __shared__ float stage[2][128];
    auto block = groups::this_thread_block();
    auto pipe = cuda::make_pipeline();
    auto fetch = [&](int tile) {
        pipe.producer_acquire();
        cuda::memcpy_async(&stage[tile % 2][threadIdx.x], in + tile * 128 + threadIdx.x, sizeof(float), pipe);
        pipe.producer_commit();
    };
    fetch(0);
    float sum = 0;
    for (int tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles) fetch(tile + 1);
        if (tile + 1 < tiles) {
            cuda::pipeline_consumer_wait_prior<1>(pipe);
        } else {
            cuda::pipeline_consumer_wait_prior<0>(pipe);
        }
        block.sync();
        sum += stage[tile % 2][127 - threadIdx.x];
        block.sync();
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

// The same with the older intrinsics, and a barrier that counts arrivals.
__global__ void barrier_kernel(const float* in, float* out) {
    __shared__ float tile[128];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    __pipeline_memcpy_async(tile + threadIdx.x, in + threadIdx.x, sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    barrier.arrive_and_wait();
    float sum = tile[threadIdx.x ^ 1];
    auto token = barrier.arrive();
    sum *= 2;
    barrier.wait(std::move(token));
    tile[threadIdx.x] = sum;
    barrier.arrive_and_wait();
    out[threadIdx.x] = tile[127 - threadIdx.x];
}

__global__ void complex_kernel(const double* in, double* out) {
    cuda::std::complex<double> a(in[4 * threadIdx.x], in[4 * threadIdx.x + 1]), b(in[4 * threadIdx.x + 2], in[4 * threadIdx.x + 3]);
    cuda::std::array<cuda::std::complex<double>, 4> results{a * b, a / b, cuda::std::exp(a), cuda::std::sqrt(b)};
    for (int i = 0; i < 4; ++i) {
        out[8 * threadIdx.x + 2 * i] = results[i].real();
        out[8 * threadIdx.x + 2 * i + 1] = results[i].imag();
    }
}

// Eight packed results to a thread.
__global__ void half_kernel(const __half2* in, __half2* out) {
    __half2 a = in[2 * threadIdx.x], b = in[2 * threadIdx.x + 1], *to = out + 8 * threadIdx.x;
    to[0] = __hfma2(a, b, __float2half2_rn(0.5f));
    to[1] = __hadd2_sat(a, b);
    to[2] = __hmin2(a, b);
    to[3] = h2sqrt(__habs2(a));
    to[4] = __h2div(a, b);
    to[5] = __hgt2(a, b);
    to[6] = __lowhigh2highlow(a);
    to[7] = __floats2half2_rn(__half2float(__high2half(a)) * 3, __low2float(b));
}
__global__ void bfloat_kernel(const __nv_bfloat162* in, __nv_bfloat162* out) {
    __nv_bfloat162 a = in[2 * threadIdx.x], b = in[2 * threadIdx.x + 1], *to = out + 4 * threadIdx.x;
    to[0] = __hfma2(a, b, __float2bfloat162_rn(0.5f));
    to[1] = __hmul2(a, b);
    to[2] = __hmax2(a, b);
    to[3] = __floats2bfloat162_rn(__low2float(a) + __low2float(b), __high2float(a) - __high2float(b));
}

__global__ void bits_kernel(const unsigned* in, int* out) {
    unsigned value = in[threadIdx.x];
    auto pair = cuda::std::make_tuple(cuda::std::popcount(value), cuda::std::countl_zero(value));
    out[4 * threadIdx.x] = cuda::std::get<0>(pair);
    out[4 * threadIdx.x + 1] = cuda::std::get<1>(pair);
    out[4 * threadIdx.x + 2] = cuda::std::rotl(value, 7);
    out[4 * threadIdx.x + 3] = cuda::std::numeric_limits<int>::max() - int(value >> 1);
}

// Each of the four results is two words, the low one first.
__global__ void wide_kernel(const unsigned long long* in, unsigned long long* out) {
    const unsigned long long* own = in + 4 * threadIdx.x;
    unsigned long long* results = out + 8 * threadIdx.x;
    const auto a = (unsigned __int128)own[1] << 64 | own[0], b = (unsigned __int128)own[3] << 64 | own[2];
    const auto quotient = (unsigned __int128)((__int128)a / (__int128)b);
    const auto remainder = (unsigned __int128)((__int128)a % (__int128)b);
    const unsigned __int128 found[] = {a / b, a % b, quotient, remainder};
    for (int i = 0; i < 4; i++) {
        results[2 * i] = (unsigned long long)found[i];
        results[2 * i + 1] = (unsigned long long)(found[i] >> 64);
    }
}
extern "C" int groups_of(const int* in, int* out, int blocks) {
    group_kernel<<<blocks, 128>>>(in, out);
    return cudaDeviceSynchronize();
}
extern "C" int whole_grid(const int* in, int* partial, int* out, int blocks) {
    void* arguments[] = {&in, &partial, &out};
    cudaError_t error = cudaLaunchCooperativeKernel((const void*)grid_kernel, blocks, 64, arguments);
    return error ? error : cudaDeviceSynchronize();
}
extern "C" int atomics(const int* in, int* counter, long long* out, int n) {
    atomic_kernel<<<(n + 63) / 64, 64>>>(in, counter, out, n);
    return cudaDeviceSynchronize();
}
extern "C" int pipelines(const float* in, float* out, int tiles) {
    pipeline_kernel<<<1, 128>>>(in, out, tiles);
    return cudaDeviceSynchronize();
}
extern "C" int barriers(const float* in, float* out) {
    barrier_kernel<<<1, 128>>>(in, out);
    return cudaDeviceSynchronize();
}
extern "C" int complex_numbers(const double* in, double* out, int n) {
    complex_kernel<<<1, n>>>(in, out);
    return cudaDeviceSynchronize();
}
extern "C" int halves(const void* in, void* out, int n) {
    half_kernel<<<1, n>>>((const __half2*)in, (__half2*)out);
    return cudaDeviceSynchronize();
}
extern "C" int bfloats(const void* in, void* out, int n) {
    bfloat_kernel<<<1, n>>>((const __nv_bfloat162*)in, (__nv_bfloat162*)out);
    return cudaDeviceSynchronize();
}
extern "C" int bits(const unsigned* in, int* out, int n) {
    bits_kernel<<<1, n>>>(in, out);
    return cudaDeviceSynchronize();
}
extern "C" int wide_divisions(const unsigned long long* in, unsigned long long* out, int n) {
    wide_kernel<<<1, n>>>(in, out);
    return cudaDeviceSynchronize();
}
