// expect: case=m-1027-n-2-h-64-d-1
// A block for each head of each query in y, of which there may be 262,144.
#include <cuda_runtime.h>

__global__ void att(const float *Q, const float *K, const float *V, float *O, int M, int N, int H, int D) {
    __shared__ float q[256];
    __shared__ float red[128];
    int m = blockIdx.y / H, h = blockIdx.y % H, t = threadIdx.x;
    for (int i = t; i < D; i += 128) q[i] = Q[(m * H + h) * D + i];
    __syncthreads();
    float mx = -INFINITY;
    for (int n = t; n < N; n += 128) {
        float s = 0;
        for (int i = 0; i < D; i++) s += q[i] * K[(n * H + h) * D + i];
        mx = fmaxf(mx, s * rsqrtf((float)D));
    }
    red[t] = mx;
    __syncthreads();
    for (int k = 64; k; k /= 2) {
        if (t < k) red[t] = fmaxf(red[t], red[t + k]);
        __syncthreads();
    }
    mx = red[0];
    __syncthreads();
    for (int c = t; c < D; c += 128) {
        float num = 0, den = 0;
        for (int n = 0; n < N; n++) {
            float s = 0;
            for (int i = 0; i < D; i++) s += q[i] * K[(n * H + h) * D + i];
            float p = expf(s * rsqrtf((float)D) - mx);
            den += p;
            num += p * V[(n * H + h) * D + c];
        }
        O[(m * H + h) * D + c] = num / den;
    }
}
extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int M, int N, int H, int D) {
    att<<<dim3(1, M * H), 128>>>(Q, K, V, output, M, N, H, D);
}
