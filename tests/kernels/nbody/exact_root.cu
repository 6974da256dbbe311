// A root and a division, both rounded correctly, for each pair; bodies straight from global memory.
#include <cuda_runtime.h>
#include <math.h>

__global__ void accelerate(const float4 *bodies, float4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 me = bodies[i];
    float x = 0, y = 0, z = 0;
    for (int j = 0; j < n; j++) {
        float4 other = bodies[j];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float distance = sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
        float weight = other.w / (distance * distance * distance);
        x += dx * weight;
        y += dy * weight;
        z += dz * weight;
    }
    out[i] = make_float4(x, y, z, 0);
}

extern "C" void solve(const float4 *bodies, float4 *out, int n) { accelerate<<<(n + 127) / 128, 128>>>(bodies, out, n); }
