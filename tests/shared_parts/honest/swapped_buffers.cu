__global__ void add(const float* A, const float* B, float* C, int N) {
    extern __shared__ float buffer[];
    float* from = buffer;
    float* to = buffer + blockDim.x;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    from[t] = i < N ? A[i] : 0;
    __syncthreads();
    for (int round = 0; round < 5; round++) {
        to[t] = from[t];
        __syncthreads();
        float* old = from;
        from = to;
        to = old;
    }
    if (i < N) C[i] = from[t] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int block = 256;
    add<<<(N + block - 1) / block, block, 2 * block * sizeof(float)>>>(A, B, C, N);
}
