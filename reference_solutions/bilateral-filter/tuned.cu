// A block makes 32 x 32 pixels from a tile with borders in shared memory. A thread makes four pixels below each other: it goes down a column
// of the tile, and each value that it reads counts for all four. Exponents are those of 2, so that a weight is two multiply-adds and
// one instruction. What lies outside the image is so bright that its weight is zero.
#include <cuda_runtime.h>

constexpr int SIDE = 32, EACH = 4, DOWN = SIDE / EACH;
constexpr int RADIUS = 12;
constexpr int STRIDE = SIDE + 2 * RADIUS + 1;
constexpr float LOG2_E = 1.4426950408889634f;
// Its square times any factor that is allowed is far below -150, and finite.
constexpr float OUTSIDE = 1e4f;

__global__ void __launch_bounds__(SIDE* DOWN) filter(const float* __restrict__ image, float* __restrict__ output, float of_space, float of_range,
                                                     int radius, int height, int width) {
    __shared__ float tile[SIDE + 2 * RADIUS][STRIDE];
    int first_row = blockIdx.y * SIDE - radius, first_column = blockIdx.x * SIDE - radius, side = SIDE + 2 * radius;
    for (int y = threadIdx.y; y < side; y += DOWN) {
        for (int x = threadIdx.x; x < side; x += SIDE) {
            int row = first_row + y, column = first_column + x;
            bool there = row >= 0 && row < height && column >= 0 && column < width;
            tile[y][x] = there ? image[(size_t)row * width + column] : OUTSIDE;
        }
    }
    __syncthreads();
    int x = threadIdx.x + radius, y = threadIdx.y * EACH + radius;
    float here[EACH], sum[EACH] = {}, total[EACH] = {};
#pragma unroll
    for (int i = 0; i < EACH; i++) here[i] = tile[y + i][x];
    for (int right = -radius; right <= radius; right++) {
        for (int down = -radius; down < radius + EACH; down++) {
            float other = tile[y + down][x + right];
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                if (down - i < -radius || down - i > radius) continue;
                float difference = other - here[i];
                float away = of_space * (float)((down - i) * (down - i) + right * right);
                float weight = exp2f(fmaf(difference * of_range, difference, away));
                sum[i] = fmaf(weight, other, sum[i]);
                total[i] += weight;
            }
        }
    }
    int column = blockIdx.x * SIDE + threadIdx.x;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int row = blockIdx.y * SIDE + threadIdx.y * EACH + i;
        if (row < height && column < width) output[(size_t)row * width + column] = sum[i] / total[i];
    }
}

extern "C" void solve(const float* image, float* output, float sigma_space, float sigma_range, int radius, int height, int width) {
    dim3 blocks((width + SIDE - 1) / SIDE, (height + SIDE - 1) / SIDE);
    filter<<<blocks, dim3(SIDE, DOWN)>>>(image, output, -LOG2_E / (2.0f * sigma_space * sigma_space), -LOG2_E / (2.0f * sigma_range * sigma_range),
                                         radius, height, width);
}
