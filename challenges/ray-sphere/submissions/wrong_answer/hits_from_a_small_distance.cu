// What lies nearer than 1e-4 is taken for the surface that a ray begins on, as tracers do with reflected rays.
#include <cuda_runtime.h>
#include <math.h>

__global__ void trace(const float* origins, const float* directions, const float* centers, const float* radii, float* distances, int* hits,
                      int R, int S) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= R) return;
    const float *o = origins + 3 * i, *d = directions + 3 * i;
    float a = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    float length = sqrtf(a), nearest = INFINITY;
    int hit = -1;
    for (int j = 0; j < S; j++) {
        float x = centers[3 * j] - o[0], y = centers[3 * j + 1] - o[1], z = centers[3 * j + 2] - o[2];
        float b = d[0] * x + d[1] * y + d[2] * z;
        float q = x * x + y * y + z * z - radii[j] * radii[j];
        float discriminant = b * b - a * q;
        if (discriminant < 0.0f) continue;
        float root = sqrtf(discriminant);
        float t = (b - root) / a;
        if (t * length <= 1e-4f) t = (b + root) / a;
        if (t * length > 1e-4f && t < nearest) {
            nearest = t;
            hit = j;
        }
    }
    distances[i] = hit < 0 ? -1.0f : nearest;
    hits[i] = hit;
}

extern "C" void solve(const float* origins, const float* directions, const float* centers, const float* radii, float* distances, int* hits,
                      int R, int S) {
    trace<<<(R + 255) / 256, 256>>>(origins, directions, centers, radii, distances, hits, R, S);
}
