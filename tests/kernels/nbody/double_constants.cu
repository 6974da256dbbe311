// Constants without an f: differences, the root and the division are all in double precision.
#include <cuda_runtime.h>
#include <math.h>

__global__ void accelerate(const float4 *bodies, float4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 me = bodies[i];
    float x = 0, y = 0, z = 0;
    for (int j = 0; j < n; j++) {
        float dx = bodies[j].x - me.x, dy = bodies[j].y - me.y, dz = bodies[j].z - me.z;
        float distance = sqrt(dx * dx + dy * dy + dz * dz + 0.01);
        float weight = bodies[j].w / (1.0 * distance * distance * distance);
        x += dx * weight;
        y += dy * weight;
        z += dz * weight;
    }
    out[i] = make_float4(x, y, z, 0);
}

extern "C" void solve(const float4 *bodies, float4 *out, int n) { accelerate<<<(n + 127) / 128, 128>>>(bodies, out, n); }
