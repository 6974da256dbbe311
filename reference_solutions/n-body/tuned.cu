// A block has 32 bodies and 8 warps that share the sum over all others among them, so that a few thousand bodies fill a GPU;
// they add up in shared memory. The inverse of the cubed distance takes one rsqrt. Each lane loads one other body, and the
// warp goes through its 32 by shared memory of its own, without a barrier of the block.
#include <cuda_runtime.h>

constexpr int WARPS = 8;

__global__ void __launch_bounds__(32 * WARPS) attract(const float4* __restrict__ bodies, float* __restrict__ accelerations, float softening, int n) {
    __shared__ float4 tiles[WARPS][32];
    __shared__ float sums[WARPS][32][3];
    int lane = threadIdx.x, warp = threadIdx.y;
    int i = blockIdx.x * 32 + lane;
    float4 own = i < n ? bodies[i] : float4{0.0f, 0.0f, 0.0f, 0.0f};
    float soft = softening * softening;
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int first = warp * 32; first < n; first += WARPS * 32) {
        // A body without mass does nothing, so the last tile is filled with such.
        tiles[warp][lane] = first + lane < n ? bodies[first + lane] : float4{0.0f, 0.0f, 0.0f, 0.0f};
        __syncwarp();
#pragma unroll
        for (int j = 0; j < 32; j++) {
            float4 other = tiles[warp][j];
            float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
            float inverse = rsqrtf(x * x + y * y + z * z + soft);
            float weight = other.w * inverse * inverse * inverse;
            ax += weight * x;
            ay += weight * y;
            az += weight * z;
        }
        __syncwarp();
    }
    sums[warp][lane][0] = ax;
    sums[warp][lane][1] = ay;
    sums[warp][lane][2] = az;
    __syncthreads();
    // The 96 numbers of the block lie one behind the other.
    int e = warp * 32 + lane;
    if (e >= 96 || blockIdx.x * 96 + e >= 3 * n) return;
    float sum = 0.0f;
#pragma unroll
    for (int w = 0; w < WARPS; w++) sum += sums[w][e / 3][e % 3];
    accelerations[blockIdx.x * 96 + e] = sum;
}

extern "C" void solve(const float* bodies, float* accelerations, float softening, int N) {
    attract<<<(N + 31) / 32, dim3(32, WARPS)>>>(reinterpret_cast<const float4*>(bodies), accelerations, softening, N);
}
