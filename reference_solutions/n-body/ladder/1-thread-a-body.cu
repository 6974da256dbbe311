// One thread a body, which reads all the others through the caches.
#include <cuda_runtime.h>

__global__ void attract(const float4* bodies, float* accelerations, float softening, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 own = bodies[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; j++) {
        float4 other = bodies[j];
        float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
        float square = x * x + y * y + z * z + softening * softening;
        float weight = other.w / (square * sqrtf(square));
        ax += weight * x;
        ay += weight * y;
        az += weight * z;
    }
    accelerations[3 * i] = ax;
    accelerations[3 * i + 1] = ay;
    accelerations[3 * i + 2] = az;
}

extern "C" void solve(const float* bodies, float* accelerations, float softening, int N) {
    attract<<<(N + 127) / 128, 128>>>(reinterpret_cast<const float4*>(bodies), accelerations, softening, N);
}
