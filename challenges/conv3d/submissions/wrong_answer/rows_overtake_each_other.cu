// expect: case=rows-in-turn cuda=WA,AC
// A block goes through several rows without a barrier between them: a warp that is ahead overwrites inputs
// that others still read.
#include <cuda_runtime.h>

__global__ void convolve(const float* input, const float* kernel, float* output, int rows, int cols, int kd, int kr,
                         int kc, int od, int oh, int ow) {
    __shared__ float lines[25][320];
    for (int line = blockIdx.x; line < od * oh; line += gridDim.x) {
        int z = line / oh, y = line % oh;
        for (int i = threadIdx.x; i < kd * kr * cols; i += 128) {
            int l = i / cols, x = i % cols;
            lines[l][x] = input[((size_t)(z + l / kr) * rows + y + l % kr) * cols + x];
        }
        __syncthreads();
        for (int x = threadIdx.x; x < ow; x += 128) {
            float sum = 0.0f;
            for (int l = 0; l < kd * kr; l++) {
                for (int q = 0; q < kc; q++) sum += lines[l][x + q] * kernel[l * kc + q];
            }
            output[(size_t)line * ow + x] = sum;
        }
    }
}
extern "C" void solve(const float* input, const float* kernel, float* output, int depth, int rows, int cols, int kd,
                      int kr, int kc) {
    int od = depth - kd + 1, oh = rows - kr + 1, ow = cols - kc + 1;
    convolve<<<min(od * oh, 1056), 128>>>(input, kernel, output, rows, cols, kd, kr, kc, od, oh, ow);
}
