template <class T>
__device__ void fill(T* part, const float* from, int i, int N) {
    part[threadIdx.x] = i < N ? from[i] : 0;
}

template <class T, int SIZE>
__global__ void add(const float* A, const float* B, float* C, int N) {
    extern __shared__ __align__(16) char memory[];
    T* const keys = (T*)memory;
    T* const values = keys + SIZE;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    keys[t] = i < N ? A[i] : 0;
    fill(values, B, i, N);
    __syncthreads();
    T key = keys[t + 1];  // wrong: keys
    T value = values[t];
    if (i < N) C[i] = key + value;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int block = 256;
    add<float, 256><<<(N + block - 1) / block, block, 2 * block * sizeof(float)>>>(A, B, C, N);
}
