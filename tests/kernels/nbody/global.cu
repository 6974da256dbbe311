// rsqrtf in place of the root and the division; all lanes read the same body from global memory.
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

__global__ void accelerate(const float4 *bodies, float4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 me = bodies[i];
    float3 sum = make_float3(0, 0, 0);
    for (int j = 0; j < n; j++) sum = attract(sum, me, bodies[j]);
    out[i] = make_float4(sum.x, sum.y, sum.z, 0);
}

extern "C" void solve(const float4 *bodies, float4 *out, int n) { accelerate<<<(n + 127) / 128, 128>>>(bodies, out, n); }
