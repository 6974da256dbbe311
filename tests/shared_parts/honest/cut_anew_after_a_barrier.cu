__global__ void add(const float* A, const float* B, float* C, int N) {
    extern __shared__ float buffer[];
    float* keys = buffer;
    float* values = buffer + blockDim.x;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    keys[t] = i < N ? A[i] : 0;
    values[t] = i < N ? B[i] : 0;
    __syncthreads();
    float sum = keys[t] + values[t];
    __syncthreads();
    float* pad = buffer;
    float* sums = buffer + 1;
    if (t == 0) {
        pad[0] = 0;
    }
    sums[t] = sum;
    __syncthreads();
    if (i < N) C[i] = pad[0] + sums[t];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int block = 256;
    add<<<(N + block - 1) / block, block, 2 * block * sizeof(float)>>>(A, B, C, N);
}
