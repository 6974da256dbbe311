// Spheres lie in shared memory, some at a time, as x, y, z, r². A block's rays come through shared memory as well, in reads side by side.
// Directions are made as long as 1, so that a pair takes ten operations before it is known that it does not meet.
#include <cuda_runtime.h>
#include <math.h>

constexpr int THREADS = 256;
constexpr int SPHERES = 256;

__global__ void __launch_bounds__(THREADS) trace(const float* __restrict__ origins, const float* __restrict__ directions,
                                                 const float* __restrict__ centers, const float* __restrict__ radii,
                                                 float* __restrict__ distances, int* __restrict__ hits, int R, int S) {
    __shared__ float4 spheres[SPHERES];
    __shared__ float rays[2][3 * THREADS];
    size_t first = (size_t)blockIdx.x * THREADS;
    int count = (int)min((size_t)THREADS, R - first), t = threadIdx.x;
    for (int i = t; i < 3 * count; i += THREADS) {
        rays[0][i] = __ldcs(&origins[3 * first + i]);
        rays[1][i] = __ldcs(&directions[3 * first + i]);
    }
    __syncthreads();
    int mine = 3 * min(t, count - 1);
    float ox = rays[0][mine], oy = rays[0][mine + 1], oz = rays[0][mine + 2];
    float dx = rays[1][mine], dy = rays[1][mine + 1], dz = rays[1][mine + 2];
    float shrink = 1.0f / sqrtf(fmaf(dx, dx, fmaf(dy, dy, dz * dz)));
    dx *= shrink, dy *= shrink, dz *= shrink;
    float nearest = INFINITY;
    int hit = -1;
    for (int begin = 0; begin < S; begin += SPHERES) {
        int some = min(SPHERES, S - begin);
        __syncthreads();
        if (t < some) {
            float r = radii[begin + t];
            spheres[t] = make_float4(centers[3 * (begin + t)], centers[3 * (begin + t) + 1], centers[3 * (begin + t) + 2], r * r);
        }
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < some; j++) {
            float4 sphere = spheres[j];
            float x = sphere.x - ox, y = sphere.y - oy, z = sphere.z - oz;
            float b = fmaf(dx, x, fmaf(dy, y, dz * z));
            float q = fmaf(x, x, fmaf(y, y, fmaf(z, z, -sphere.w)));
            float discriminant = fmaf(b, b, -q);
            if (discriminant < 0.0f) continue;
            float root = sqrtf(discriminant);
            float there = b - root > 0.0f ? b - root : b + root;
            if (there > 0.0f && there < nearest) {
                nearest = there;
                hit = begin + j;
            }
        }
    }
    if (t >= count) return;
    __stcs(&distances[first + t], hit < 0 ? -1.0f : nearest * shrink);
    __stcs(&hits[first + t], hit);
}

extern "C" void solve(const float* origins, const float* directions, const float* centers, const float* radii, float* distances, int* hits,
                      int R, int S) {
    trace<<<(R + THREADS - 1) / THREADS, THREADS>>>(origins, directions, centers, radii, distances, hits, R, S);
}
