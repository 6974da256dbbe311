__global__ void add(const float* A, const float* B, float* C, int N) {
    extern __shared__ float buffer[];
    float* keys = buffer;
    float* last = keys + blockDim.x - 1;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    keys[t] = i < N ? A[i] : 0;
    __syncthreads();
    float before = t > 0 ? keys[t - 1] : 0;
    float mine = keys[t];
    float end = last[0];
    if (i < N) C[i] = mine + B[i] + 0 * before + 0 * end;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int block = 256;
    add<<<(N + block - 1) / block, block, block * sizeof(float)>>>(A, B, C, N);
}
