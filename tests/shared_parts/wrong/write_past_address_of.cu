__global__ void add(const float* A, const float* B, float* C, int N) {
    extern __shared__ float buffer[];
    float* keys = buffer;
    float* values = (float*)&keys[blockDim.x];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    values[t] = i < N ? B[i] : 0;
    if (t == 0) {
        keys[0] = A[0];
    }
    __syncthreads();
    keys[t + 1] = i < N ? A[i] : 0;  // wrong: keys
    __syncthreads();
    float key = keys[t];
    if (i < N) C[i] = key + values[t];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int block = 256;
    add<<<(N + block - 1) / block, block, 2 * block * sizeof(float)>>>(A, B, C, N);
}
