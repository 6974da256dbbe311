__global__ void add(const float* A, const float* B, float* C, int N) {
    extern __shared__ __align__(16) float buffer[];
    float* keys = buffer;
    float* values = buffer + blockDim.x;
    float4* all = reinterpret_cast<float4*>(buffer);
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < blockDim.x / 2) {
        all[t] = make_float4(0, 0, 0, 0);
    }
    __syncthreads();
    if (i < N) keys[t] = A[i];
    if (i < N) values[t] = B[i];
    __syncthreads();
    if (i < N) C[i] = keys[t] + values[t];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int block = 256;
    add<<<(N + block - 1) / block, block, 2 * block * sizeof(float)>>>(A, B, C, N);
}
