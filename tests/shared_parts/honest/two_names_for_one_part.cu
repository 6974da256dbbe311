__global__ void add(const float* A, const float* B, float* C, int N) {
    extern __shared__ float buffer[];
    float* keys = buffer;
    int* bits = reinterpret_cast<int*>(buffer);
    float* values = buffer + blockDim.x;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    keys[t] = i < N ? A[i] : 0;
    values[t] = i < N ? B[i] : 0;
    __syncthreads();
    int pattern = bits[t];
    if (i < N) C[i] = __int_as_float(pattern) + values[t];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int block = 256;
    add<<<(N + block - 1) / block, block, 2 * block * sizeof(float)>>>(A, B, C, N);
}
