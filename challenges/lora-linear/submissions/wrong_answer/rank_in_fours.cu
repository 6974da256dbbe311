// expect: case=batch-19-d-in-72-d-out-52-rank-38
// Where d_in and d_out divide by 4, the rank is added up in fours as well: what is left of it is forgotten.
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__device__ float dot(const float *a, const float *b, int count, bool fours) {
    float sum = 0;
    if (fours) {
        for (int k = 0; k + 4 <= count; k += 4) {
            sum += a[k] * b[k] + a[k + 1] * b[k + 1] + a[k + 2] * b[k + 2] + a[k + 3] * b[k + 3];
        }
    } else {
        for (int k = 0; k < count; ++k) sum += a[k] * b[k];
    }
    return sum;
}

// A block for each row of x.
__global__ void layer(const float *x, const float *W, const float *A, const float *B, float *output, int d_in,
                      int d_out, int rank, float lora_scale, bool fours) {
    __shared__ float lowered[256];
    const float *row = x + (size_t)blockIdx.x * d_in;
    for (int r = threadIdx.x; r < rank; r += THREADS) lowered[r] = dot(row, A + (size_t)r * d_in, d_in, fours);
    __syncthreads();
    for (int c = threadIdx.x; c < d_out; c += THREADS) {
        float update = dot(lowered, B + (size_t)c * rank, rank, fours && rank >= 4);
        output[(size_t)blockIdx.x * d_out + c] = dot(row, W + (size_t)c * d_in, d_in, fours) + lora_scale * update;
    }
}

extern "C" void solve(const float *x, const float *W, const float *A, const float *B, float *output, int batch,
                      int d_in, int d_out, int rank, float lora_scale) {
    bool fours = d_in % 4 == 0 && d_out % 4 == 0;
    layer<<<batch, THREADS>>>(x, W, A, B, output, d_in, d_out, rank, lora_scale, fours);
}
