// The usual sizes of the weights are known when the kernel is compiled: its loops are unrolled, and the weights stay in
// registers. Larger tiles, of four outputs a thread, have less rim. Other sizes take the same code with loops.
#include <cuda_runtime.h>

constexpr int SIDE = 32, DOWN = 8, LARGEST = 15;

// SIZE is the size of the weights, or 0 if it is only known at run time.
template <int SIZE>
__global__ void filter(const float* input, const float* weights, float* output, int height, int width, int given_size) {
    constexpr int ROOM = SIZE > 0 ? SIZE : LARGEST;
    __shared__ float tile[SIDE + ROOM - 1][SIDE + ROOM - 1], taps[ROOM * ROOM];
    int size = SIZE > 0 ? SIZE : given_size;
    int left = blockIdx.x * SIDE - size / 2, top = blockIdx.y * SIDE - size / 2;
    size_t channel = (size_t)blockIdx.z * height * width;
    int t = threadIdx.y * SIDE + threadIdx.x;
    if (t < size * size) taps[t] = weights[(size_t)blockIdx.z * size * size + t];
    for (int i = threadIdx.y; i < SIDE + size - 1; i += DOWN) {
        for (int j = threadIdx.x; j < SIDE + size - 1; j += SIDE) {
            int r = top + i, c = left + j;
            tile[i][j] = r >= 0 && r < height && c >= 0 && c < width ? input[channel + (size_t)r * width + c] : 0.0f;
        }
    }
    __syncthreads();
    int x = blockIdx.x * SIDE + threadIdx.x;
#pragma unroll
    for (int i = 0; i < SIDE; i += DOWN) {
        int y = blockIdx.y * SIDE + i + threadIdx.y;
        if (x >= width || y >= height) continue;
        float sum = 0.0f;
#pragma unroll(SIZE > 0 ? SIZE : 1)
        for (int u = 0; u < size; u++)
#pragma unroll(SIZE > 0 ? SIZE : 1)
            for (int v = 0; v < size; v++) sum += taps[u * size + v] * tile[i + threadIdx.y + u][threadIdx.x + v];
        output[channel + (size_t)y * width + x] = sum;
    }
}

extern "C" void solve(const float* input, const float* weights, float* output, int C, int H, int W, int K) {
    dim3 blocks((W + SIDE - 1) / SIDE, (H + SIDE - 1) / SIDE, C), threads(SIDE, DOWN);
    if (K == 3) filter<3><<<blocks, threads>>>(input, weights, output, H, W, K);
    else if (K == 5) filter<5><<<blocks, threads>>>(input, weights, output, H, W, K);
    else if (K == 7) filter<7><<<blocks, threads>>>(input, weights, output, H, W, K);
    else filter<0><<<blocks, threads>>>(input, weights, output, H, W, K);
}
