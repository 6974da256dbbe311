// Function pointers in a table, a union, a switch, blocks of 33 threads.
#include <cuda_runtime.h>
#include <cstdio>
#include <cassert>
typedef float (*Op)(float, float);
__device__ float f_add(float a, float b) { return a + b; }
__device__ float f_sub(float a, float b) { return a - b; }
__device__ Op table[2] = {f_add, f_sub};
union Bits {
    float f;
    unsigned u;
};
__noinline__ __device__ float neg(float x) {
    Bits b;
    b.f = x;
    b.u ^= 0x80000000u;
    return b.f;
}
__global__ void k(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    assert(i >= 0);
    switch (i % 5) {
        case 0:
            C[i] = table[0](A[i], B[i]);
            break;
        case 1:
            C[i] = table[1](A[i], neg(B[i]));
            break;
        case 2:
            C[i] = B[i] + A[i];
            break;
        case 3: {
            Op o = table[i & 1 ? 0 : 1];
            C[i] = o == f_add ? o(A[i], B[i]) : A[i] - neg(B[i]);
            break;
        }
        default:
            C[i] = __fmaf_rn(A[i], 1.0f, B[i]);
    }
}
extern "C" void solve(const float* A, const float* B, float* C, int N) { k<<<(N + 32) / 33, 33>>>(A, B, C, N); }
int main() {
    float *a, *b, *c;
    cudaMalloc(&a, 16);
    cudaMalloc(&b, 16);
    cudaMalloc(&c, 16);
    solve(a, b, c, 4);
    printf("ok\n");
    return 0;
}
