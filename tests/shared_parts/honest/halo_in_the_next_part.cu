__global__ void add(const float* A, const float* B, float* C, int N) {
    extern __shared__ float buffer[];
    float* tile = buffer;
    float* halo = buffer + blockDim.x;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = i < N ? A[i] : 0;
    if (t == 0) {
        halo[0] = i + (int)blockDim.x < N ? A[i + blockDim.x] : 0;
    }
    __syncthreads();
    float next = tile[t + 1];
    float mine = tile[t];
    if (i < N) C[i] = mine + B[i] + 0 * next;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int block = 256;
    add<<<(N + block - 1) / block, block, (block + 1) * sizeof(float)>>>(A, B, C, N);
}
