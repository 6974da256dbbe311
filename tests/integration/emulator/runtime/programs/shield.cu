// What host code may touch while the device's memory is shielded, and what not.
#include <cuda_runtime.h>

__device__ float offsets[2] = {1, 2};
__managed__ float managed_offset = 5;
__constant__ float constant_offset = 7;

__global__ void fill(float *out) { out[threadIdx.x] = offsets[threadIdx.x] + managed_offset + constant_offset; }

extern "C" void allowed(float *out) {
    managed_offset += 1;
    const float replaced[2] = {10, 20};
    cudaMemcpyToSymbol(offsets, replaced, sizeof replaced);
    fill<<<1, 2>>>(out);
    float *copy, *pinned;
    cudaMalloc(&copy, 8);
    cudaMallocHost(&pinned, 8);
    cudaMemcpy(copy, out, 8, cudaMemcpyDeviceToDevice);
    cudaMemset(out, 0, 8);
    cudaMemcpy(pinned, copy, 8, cudaMemcpyDeviceToHost);
    pinned[1] += 1;
    cudaMemcpy(out, pinned, 8, cudaMemcpyHostToDevice);
    cudaFree(copy);
    cudaFreeHost(pinned);
}

extern "C" void dereferences(float *out) { out[0] = 1; }

extern "C" void dereferences_its_own() {
    float *own;
    cudaMalloc(&own, 8);
    own[0] = 1;
}
