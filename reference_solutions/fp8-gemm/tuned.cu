// Tensor cores on halves. A block of eight warps makes 128 x 128 outputs in steps of 32 along K, each warp 32 x 64. Tiles become halves on the way into
// shared memory, exactly: shifted into place an 8-bit float is 1/256 of itself. The next tiles come into registers, 16 numbers a thread and matrix, while
// the present ones are multiplied, and go into the other half of a double buffer.
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

constexpr int SIDE = 128, DEPTH = 32, STRIDE = DEPTH + 8, THREADS = 256;

__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// 16 numbers of a row from a column on; zeros for what lies outside.
template <bool ALIGNED>
__device__ uint4 load16(const unsigned char* matrix, int row, int rows, int column, int width) {
    uint4 found = make_uint4(0, 0, 0, 0);
    if (row < rows) {
        const unsigned char* from = matrix + (size_t)row * width + column;
        if (ALIGNED) {
            if (column < width) found = *reinterpret_cast<const uint4*>(from);
        } else {
            unsigned char* to = reinterpret_cast<unsigned char*>(&found);
#pragma unroll
            for (int i = 0; i < 16; i++)
                if (column + i < width) to[i] = from[i];
        }
    }
    return found;
}

// Two 8-bit floats, in the low bytes of the two halves of a word, as two halves.
__device__ __forceinline__ unsigned widened(unsigned two) {
    unsigned moved = (two & 0x00800080u) << 8 | (two & 0x007f007fu) << 7;
    half2 found = __hmul2(*reinterpret_cast<half2*>(&moved), __half2half2(__float2half(256.0f)));
    return *reinterpret_cast<unsigned*>(&found);
}

__device__ __forceinline__ void store16(half* to, uint4 from) {
    uint4 low, high;
    low.x = widened(__byte_perm(from.x, 0, 0x4140)), low.y = widened(__byte_perm(from.x, 0, 0x4342));
    low.z = widened(__byte_perm(from.y, 0, 0x4140)), low.w = widened(__byte_perm(from.y, 0, 0x4342));
    high.x = widened(__byte_perm(from.z, 0, 0x4140)), high.y = widened(__byte_perm(from.z, 0, 0x4342));
    high.z = widened(__byte_perm(from.w, 0, 0x4140)), high.w = widened(__byte_perm(from.w, 0, 0x4342));
    reinterpret_cast<uint4*>(to)[0] = low;
    reinterpret_cast<uint4*>(to)[1] = high;
}

template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS)
    product(const unsigned char* __restrict__ A, const unsigned char* __restrict__ B, half* __restrict__ C, float scale, int M, int N, int K) {
    __shared__ __align__(16) half a[2][SIDE][STRIDE];
    __shared__ __align__(16) half b[2][SIDE][STRIDE];
    int first_row = blockIdx.y * SIDE, first_column = blockIdx.x * SIDE;
    int lane = threadIdx.x % 32, group = lane / 4, two = lane % 4 * 2, warp = threadIdx.x / 32;
    int down = warp / 2 * 32, across = warp % 2 * 64;
    int line = threadIdx.x / 2, part = threadIdx.x % 2 * 16;
    uint4 next_a = load16<ALIGNED>(A, first_row + line, M, part, K), next_b = load16<ALIGNED>(B, first_column + line, N, part, K);
    store16(&a[0][line][part], next_a);
    store16(&b[0][line][part], next_b);
    __syncthreads();
    float sum[2][8][4] = {};
    for (int begin = 0, buffer = 0; begin < K; begin += DEPTH, buffer ^= 1) {
        bool more = begin + DEPTH < K;
        if (more) {
            next_a = load16<ALIGNED>(A, first_row + line, M, begin + DEPTH + part, K);
            next_b = load16<ALIGNED>(B, first_column + line, N, begin + DEPTH + part, K);
        }
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            unsigned left[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) {
#pragma unroll
                for (int p = 0; p < 4; p++)
                    left[i][p] = *reinterpret_cast<const unsigned*>(&a[buffer][down + 16 * i + group + p % 2 * 8][k + p / 2 * 8 + two]);
            }
#pragma unroll
            for (int j = 0; j < 8; j++) {
                const half* right = &b[buffer][across + 8 * j + group][k + two];
                unsigned b0 = *reinterpret_cast<const unsigned*>(right), b1 = *reinterpret_cast<const unsigned*>(right + 8);
                multiply(sum[0][j], left[0], b0, b1);
                multiply(sum[1][j], left[1], b0, b1);
            }
        }
        if (more) {
            store16(&a[buffer ^ 1][line][part], next_a);
            store16(&b[buffer ^ 1][line][part], next_b);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
#pragma unroll
            for (int c = 0; c < 4; c++) {
                int row = first_row + down + 16 * i + group + c / 2 * 8, column = first_column + across + 8 * j + two + c % 2;
                if (row < M && column < N) C[(size_t)row * N + column] = __float2half(scale * sum[i][j][c]);
            }
        }
    }
}

extern "C" void solve(const __nv_fp8_e4m3* A, const __nv_fp8_e4m3* B, half* C, float scale_a, float scale_b, int M, int N, int K) {
    dim3 blocks((N + SIDE - 1) / SIDE, (M + SIDE - 1) / SIDE);
    auto kernel = K % 16 == 0 ? product<true> : product<false>;
    kernel<<<blocks, THREADS>>>(reinterpret_cast<const unsigned char*>(A), reinterpret_cast<const unsigned char*>(B), C, scale_a * scale_b, M, N, K);
}
