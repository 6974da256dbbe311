// Device code that programs load while they run.

extern "C" __constant__ float factor = 1.0f;

extern "C" __global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = factor * (a[i] + b[i]);
}

extern "C" __global__ void add_all(const float *a, const float *b, float *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];  // without a check
}
