__global__ void add(const float* A, const float* B, float* C, int N) {
    extern __shared__ float tile[];
    float* first = tile;
    float* second = first + 8 * 33;
    int row = threadIdx.x / 32, column = threadIdx.x % 32, i = blockIdx.x * blockDim.x + threadIdx.x;
    first[row * 33 + column] = i < N ? A[i] : 0;
    second[row * 33 + column] = i < N ? B[i] : 0;
    __syncthreads();
    float key = first[(row + 1) * 33 + column];  // wrong: first
    if (i < N) C[i] = key + second[row * 33 + column];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int block = 256;
    add<<<(N + block - 1) / block, block, 2 * 8 * 33 * sizeof(float)>>>(A, B, C, N);
}
