// The inverse root is one instruction, in place of a root and a division. The last tile is filled with bodies that have no
// mass and so do nothing, so that the loop has a fixed length and is unrolled.
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__global__ void attract(const float4* bodies, float* accelerations, float softening, int n) {
    __shared__ float4 tile[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    float4 none = {0.0f, 0.0f, 0.0f, 0.0f};
    float4 own = i < n ? bodies[i] : none;
    float soft = softening * softening, ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int first = 0; first < n; first += THREADS) {
        tile[threadIdx.x] = first + threadIdx.x < n ? bodies[first + threadIdx.x] : none;
        __syncthreads();
#pragma unroll 16
        for (int j = 0; j < THREADS; j++) {
            float4 other = tile[j];
            float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
            float inverse = rsqrtf(x * x + y * y + z * z + soft);
            float weight = other.w * inverse * inverse * inverse;
            ax += weight * x;
            ay += weight * y;
            az += weight * z;
        }
        __syncthreads();
    }
    if (i >= n) return;
    accelerations[3 * i] = ax;
    accelerations[3 * i + 1] = ay;
    accelerations[3 * i + 2] = az;
}

extern "C" void solve(const float* bodies, float* accelerations, float softening, int N) {
    attract<<<(N + THREADS - 1) / THREADS, THREADS>>>(reinterpret_cast<const float4*>(bodies), accelerations, softening, N);
}
