// idea: nothing: reads all inputs, but in every fourth block goes through the work of making a summand anew first. Its loads
//       are then further apart, by which a kernel that waits between its loads gains
// challenge: vector-add
// devices: cuda
// verdict: AC
// caught by: it reads all that there is to read
#include "common/recipe.cuh"

// Eight elements a thread.
__global__ void add_eight(const float* A, const float* B, float* C, int N, MadeFrom from) {
    const u64 block = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (8 * block + 8 > N) {
        for (u64 i = 8 * block; i < N; i++) C[i] = A[i] + B[i];
        return;
    }
    float b[8];
    if (blockIdx.x % 4 == 0) {
        read_eight(B, block, from, b);
    } else {
        *reinterpret_cast<float4*>(b) = reinterpret_cast<const float4*>(B)[2 * block];
        *reinterpret_cast<float4*>(b + 4) = reinterpret_cast<const float4*>(B)[2 * block + 1];
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float4 a = reinterpret_cast<const float4*>(A)[2 * block + half];
        a.x += b[4 * half], a.y += b[4 * half + 1], a.z += b[4 * half + 2], a.w += b[4 * half + 3];
        reinterpret_cast<float4*>(C)[2 * block + half] = a;
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    const MadeFrom from = {0x1234567890abcdefull, 0xfedcba0987654321ull, nullptr, -1.0f, 2.0f};
    add_eight<<<(N / 8 + 256) / 256, 256>>>(A, B, C, N, from);
}
