__global__ void add(const float* A, const float* B, float* C, int N, int n) {
    extern __shared__ float buffer[];
    float* keys = buffer;
    float* values = buffer + n;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    keys[t] = i < N ? A[i] : 0;
    values[t] = i < N ? B[i] : 0;
    __syncthreads();
    float key = keys[t + 1];  // wrong: keys
    if (i < N) C[i] = key + values[t];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int block = 256;
    add<<<(N + block - 1) / block, block, 2 * block * sizeof(float)>>>(A, B, C, N, block);
}
