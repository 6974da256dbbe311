// One thread a point, with the columns along the threads of a warp.
#include <cuda_runtime.h>

__global__ void step(const float* input, float* output, float rate, int depth, int rows, int cols) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    if (x >= cols || y >= rows) return;
    int layer = rows * cols, i = z * layer + y * cols + x;
    float here = input[i];
    if (x > 0 && x + 1 < cols && y > 0 && y + 1 < rows && z > 0 && z + 1 < depth) {
        float sum = input[i - layer] + input[i + layer] + input[i - cols] + input[i + cols] + input[i - 1] + input[i + 1];
        here += rate * (sum - 6.0f * here);
    }
    output[i] = here;
}

extern "C" void solve(const float* input, float* output, float rate, int depth, int rows, int cols) {
    step<<<dim3((cols + 31) / 32, (rows + 7) / 8, depth), dim3(32, 8)>>>(input, output, rate, depth, rows, cols);
}
