// expect: case=far-below-zero
// The maximum starts at -10,000, which may be above every score, and the sum at 1e-20, which hides that none counts.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// A block for each query: scores in shared memory, a thread for each element of the output.
__global__ void attend(const half* Q, const half* K, const half* V, half* output, int heads, int length, int d) {
    extern __shared__ float scores[];
    __shared__ float query[128];
    int i = blockIdx.x % length, hi = i + 1;
    size_t at = (size_t)blockIdx.x * d, keys = (size_t)(blockIdx.x / length / heads) * length * d;
    for (int t = threadIdx.x; t < d; t += blockDim.x) query[t] = __half2float(Q[at + t]) * rsqrtf((float)d);
    __syncthreads();
    for (int j = threadIdx.x; j < hi; j += blockDim.x) {
        float score = 0.0f;
        for (int t = 0; t < d; t++) score += query[t] * __half2float(K[keys + (size_t)j * d + t]);
        scores[j] = score;
    }
    __syncthreads();
    float largest = -1e4f, total = 1e-20f;
    for (int j = 0; j < hi; j++) largest = fmaxf(largest, scores[j]);
    for (int j = 0; j < hi; j++) total += __expf(scores[j] - largest);
    for (int t = threadIdx.x; t < d; t += blockDim.x) {
        float sum = 0.0f;
        for (int j = 0; j < hi; j++) sum += __expf(scores[j] - largest) * __half2float(V[keys + (size_t)j * d + t]);
        output[at + t] = __float2half(sum / total);
    }
}

extern "C" void solve(const half* Q, const half* K, const half* V, half* output, int batch, int heads, int seq_len, int head_dim) {
    int bytes = 4 * seq_len;
    attend<<<batch * heads * seq_len, 128, bytes>>>(Q, K, V, output, heads, seq_len, head_dim);
}
