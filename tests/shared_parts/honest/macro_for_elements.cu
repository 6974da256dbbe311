#define KEY(at) keys[at]

__global__ void add(const float* A, const float* B, float* C, int N) {
    extern __shared__ float buffer[];
    float* keys = buffer;
    float* values = keys + blockDim.x;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    KEY(t) = i < N ? A[i] : 0;
    values[t] = i < N ? B[i] : 0;
    __syncthreads();
    float sum = KEY(t) + values[t];
    if (i < N) C[i] = sum;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int block = 256;
    add<<<(N + block - 1) / block, block, 2 * block * sizeof(float)>>>(A, B, C, N);
}
