__global__ void add(const float* A, const float* B, float* C, int N) {
    extern __shared__ float shared[];
    float* totals = shared;
    float* bias = shared + 8;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 8) {
        totals[t] = 0;
    }
    if (t == 0) {
        bias[0] = 1.0f;
    }
    __syncthreads();
    float none = totals[t / 32 + 1];  // wrong: totals
    if (i < N) C[i] = A[i] + B[i] + none * bias[0];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int block = 256;
    add<<<(N + block - 1) / block, block, 9 * sizeof(float)>>>(A, B, C, N);
}
