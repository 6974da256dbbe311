// Tiles, and the bodies that attract are shared out over 16 rows of blocks, so that every multiprocessor has enough warps.
#include <cuda_runtime.h>

__device__ float3 attract(float3 sum, float4 me, float4 other) {
    float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    float weight = other.w * inverse * inverse * inverse;
    sum.x += dx * weight;
    sum.y += dy * weight;
    sum.z += dz * weight;
    return sum;
}

__global__ void __launch_bounds__(128) accelerate(const float4 *__restrict__ bodies, float4 *__restrict__ out, int n) {
    __shared__ float4 tile[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float3 sum = make_float3(0, 0, 0);
    for (int first = blockIdx.y * 128; first < n; first += gridDim.y * 128) {
        tile[threadIdx.x] = first + threadIdx.x < n ? bodies[first + threadIdx.x] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 16
        for (int j = 0; j < 128; j++) sum = attract(sum, me, tile[j]);
        __syncthreads();
    }
    if (i < n) {
        atomicAdd(&out[i].x, sum.x);
        atomicAdd(&out[i].y, sum.y);
        atomicAdd(&out[i].z, sum.z);
    }
}

extern "C" void solve(const float4 *bodies, float4 *out, int n) {
    accelerate<<<dim3((n + 127) / 128, 16), 128>>>(bodies, out, n);
}
