__global__ void add(const float* A, const float* B, float* C, int N) {
    extern __shared__ float buffer[];
    float* keys = buffer;
    float* rest = buffer + 200;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float given = i < N ? A[i] : 0;
    if (t < 200) {
        keys[t] = given;
    } else {
        rest[t - 200] = given;
    }
    __syncthreads();
    float key;
    if (t < 200) {
        key = keys[t];
    } else {
        key = rest[t - 200];
    }
    if (i < N) C[i] = key + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int block = 256;
    add<<<(N + block - 1) / block, block, block * sizeof(float)>>>(A, B, C, N);
}
