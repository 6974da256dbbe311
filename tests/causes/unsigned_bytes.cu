// challenge: int8-matmul
// verdict: WA
// mode: SUBMIT
// headline: the bytes of A and B seem to be read as unsigned: 
// told: differ
#include <cstdint>
#include <cuda_runtime.h>

__global__ void multiply(const unsigned char* A, const unsigned char* B, int8_t* C, int M, int N, int K, float scale, float scale_C,
                         float scale_B, int zero_A, int zero_B, int zero_C) {
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= M * N) return;
    int sum = 0;
    for (int k = 0; k < K; k++) sum += (A[place / N * K + k] - zero_A) * (B[k * N + place % N] - zero_B);
    float scaled = (float)sum * scale * scale_B / scale_C;
    int rounded = (int)rintf(fminf(fmaxf(scaled, -1e4f), 1e4f)) + zero_C;
    C[place] = (int8_t)max(-128, min(127, rounded));
}

extern "C" void solve(const int8_t* A, const int8_t* B, int8_t* C, int M, int N, int K, float scale_A, float scale_B, float scale_C,
                      int zero_point_A, int zero_point_B, int zero_point_C) {
    multiply<<<(M * N + 255) / 256, 256>>>((const unsigned char*)A, (const unsigned char*)B, C, M, N, K, scale_A, scale_C, scale_B,
                                           zero_point_A, zero_point_B, zero_point_C);
}
