// Stores that change nothing, since all the data are equal, or since every thread stores the same. Tests look for the marked lines.

#include <cuda_runtime.h>

__global__ void overwritten_too_soon(const float* in, float* out) {
    __shared__ float tile[64];
    float sum = 0;
    for (int step = 0; step < 4; ++step) {
        tile[threadIdx.x] = in[step * 64 + threadIdx.x];  // next tile
        __syncthreads();
#pragma unroll 1
        for (int e = 0; e < 64; ++e) sum += tile[e];  // last tile
    }
    out[threadIdx.x] = sum;
}

__global__ void one_place(const float* in, float* out) {
    out[threadIdx.x % 2] = in[threadIdx.x];  // one place
}

__global__ void flag(const float* in, float* out) {
    if (in[threadIdx.x] > 0) *reinterpret_cast<int*>(out) = 1;  // flag
}

__global__ void in_place(const float* in, float* out) {
    if (blockIdx.x == 0) out[threadIdx.x] = in[threadIdx.x];        // stored again
    if (blockIdx.x == 1) out[32 + threadIdx.x] = out[threadIdx.x];  // read later
}

__global__ void copy(const float* in, float* out) {
    out[threadIdx.x] = in[threadIdx.x];  // copied
}

extern "C" void run_overwritten_too_soon(const float* in, float* out) { overwritten_too_soon<<<1, 64>>>(in, out); }
extern "C" void run_one_place(const float* in, float* out) { one_place<<<4, 64>>>(in, out); }
extern "C" void run_flag(const float* in, float* out) { flag<<<4, 64>>>(in, out); }
extern "C" void run_in_place(const float* in, float* out) { in_place<<<2, 32>>>(in, out); }
extern "C" void run_two_streams(const float* in, float* out) {
    cudaStream_t one, other;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    copy<<<1, 32, 0, one>>>(in, out);
    copy<<<1, 32, 0, other>>>(out, out + 32);
}
