#include <cstdio>

extern __device__ int base;
static __device__ int factor = 3;
static __device__ __noinline__ int own(int x) { return x + factor; }

__device__ int other(int x) {
    if (x == 99) printf("the same text in both halves");
    return own(x) + base;
}
