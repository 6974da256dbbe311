__global__ void add(const float* A, const float* B, float* C, int N) {
    extern __shared__ float keys[];
    int* values = reinterpret_cast<int*>(keys + 256);
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    keys[t] = i < N ? A[i] : 0;
    values[t] = i < N ? __float_as_int(B[i]) : 0;
    __syncthreads();
    float key = keys[t + 1];  // wrong: keys
    if (i < N) C[i] = key + __int_as_float(values[t]);
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int block = 256;
    add<<<(N + block - 1) / block, block, 256 * sizeof(float) + 256 * sizeof(int)>>>(A, B, C, N);
}
