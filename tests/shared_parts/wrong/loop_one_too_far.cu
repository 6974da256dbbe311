#define COUNT 128

__global__ void add(const float* A, const float* B, float* C, int N) {
    extern __shared__ float buffer[];
    float* keys = buffer;
    float* values = &buffer[COUNT];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    keys[t] = i < N ? A[i] : 0;
    values[t] = i < N ? B[i] : 0;
    __syncthreads();
    float key = 0;
    for (int j = 0; j <= COUNT; j++) {
        if (j == t || j == COUNT) {
            key += keys[j];  // wrong: keys
        }
    }
    if (i < N) C[i] = key + values[t];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int block = 128;
    add<<<(N + block - 1) / block, block, 2 * COUNT * sizeof(float)>>>(A, B, C, N);
}
