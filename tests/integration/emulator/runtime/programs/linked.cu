// One half of a program that is linked from two objects (nvcc -rdc=true); linked_other.cu has the other.
#include <cstdio>

__device__ int base = 5;
__device__ int other(int x);

static __device__ int factor = 7;  // both halves have one of this name
static __device__ __noinline__ int own(int x) { return x * factor; }

__global__ void sums(int* out) {
    if (threadIdx.x == 99) printf("the same text in both halves");
    out[threadIdx.x] = own(threadIdx.x) + other(threadIdx.x);
}

extern "C" {
void run_sums(int* out) { sums<<<1, 64>>>(out); }
int set_base(int value) { return cudaMemcpyToSymbol(base, &value, sizeof value); }
}

#ifdef NESTED
__global__ void outer(int* out) { sums<<<1, 64>>>(out); }
extern "C" void run_nested(int* out) { outer<<<1, 1>>>(out); }
#endif
