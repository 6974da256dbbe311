__global__ void add(const float* A, const float* B, float* C, int N) {
    extern __shared__ unsigned char raw[];
    size_t at = 0;
    auto* keys = reinterpret_cast<float*>(raw + at);
    at += blockDim.x * sizeof(float);
    auto* values = reinterpret_cast<float*>(raw + at);
    at += blockDim.x * sizeof(float);
    auto* sums = reinterpret_cast<double*>(raw + at);
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    keys[t] = i < N ? A[i] : 0;
    values[t] = i < N ? B[i] : 0;
    __syncthreads();
    sums[t] = keys[t];
    __syncthreads();
    float value = values[t + 1];  // wrong: values
    if (i < N) C[i] = float(sums[t]) + value;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int block = 256;
    add<<<(N + block - 1) / block, block, 2 * block * sizeof(float) + block * sizeof(double)>>>(A, B, C, N);
}
