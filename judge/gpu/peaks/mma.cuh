// What the tensor cores give by mma.sync: the products of two tiles with four, eight accumulators that do not wait for one
// another. After the first products every round subtracts them and adds them again, so that sums stay where they are
// (integers have no cheap sign and wrap round instead). Block 0 says what came out.

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

constexpr int TILES_A = 2, TILES_B = 4;

template <typename T> __device__ T flipped(T word, unsigned signs) { return word ^ signs; }
template <> __device__ double flipped(double word, unsigned) { return -word; }

// `Shape`: the registers of a lane (WORDS_A, WORDS_B of type Word, WORDS_C of type Sum), SIGNS to flip, and `multiply`.
template <typename Shape>
__device__ void products(const typename Shape::Word *operands, typename Shape::Sum *results, int rounds)
{
    typename Shape::Word a[TILES_A][Shape::WORDS_A], minus[TILES_A][Shape::WORDS_A], b[TILES_B][Shape::WORDS_B];
    typename Shape::Sum sums[TILES_A][TILES_B][Shape::WORDS_C] = {};
    const typename Shape::Word *next = operands + threadIdx.x;
    for (int i = 0; i < TILES_A; i++)
        for (int k = 0; k < Shape::WORDS_A; k++, next += blockDim.x) {
            a[i][k] = *next;
            minus[i][k] = flipped(a[i][k], Shape::SIGNS);
        }
    for (int j = 0; j < TILES_B; j++)
        for (int k = 0; k < Shape::WORDS_B; k++, next += blockDim.x)
            b[j][k] = *next;
    for (int half = -1; half < 2 * rounds; half += 2) {
        if (half > 0)
#pragma unroll
            for (int tile = 0; tile < TILES_A * TILES_B; tile++)
                Shape::multiply(sums[tile / TILES_B][tile % TILES_B], minus[tile / TILES_B], b[tile % TILES_B]);
#pragma unroll
        for (int tile = 0; tile < TILES_A * TILES_B; tile++)
            Shape::multiply(sums[tile / TILES_B][tile % TILES_B], a[tile / TILES_B], b[tile % TILES_B]);
    }
    if (blockIdx.x == 0)
        for (int tile = 0; tile < TILES_A * TILES_B; tile++)
            for (int k = 0; k < Shape::WORDS_C; k++)
                results[(threadIdx.x * TILES_A * TILES_B + tile) * Shape::WORDS_C + k] =
                    sums[tile / TILES_B][tile % TILES_B][k];
}

// The instructions on 32-bit registers: four of A, two of B, and four sums or (pairs of halves) two.
#define MMA_OF_FOUR(NAME, INSTRUCTION, SUM, CONSTRAINT, FLIP)                                                          \
    struct NAME {                                                                                                      \
        using Word = unsigned;                                                                                         \
        using Sum = SUM;                                                                                               \
        static constexpr int WORDS_A = 4, WORDS_B = 2, WORDS_C = 4;                                                    \
        static constexpr unsigned SIGNS = FLIP;                                                                        \
        static __device__ void multiply(SUM *c, const unsigned *a, const unsigned *b)                                  \
        {                                                                                                              \
            asm volatile(INSTRUCTION " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"               \
                         : CONSTRAINT(c[0]), CONSTRAINT(c[1]), CONSTRAINT(c[2]), CONSTRAINT(c[3])                      \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                          \
        }                                                                                                              \
    }

MMA_OF_FOUR(Fp16, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", float, "+f", 0x80008000u);
MMA_OF_FOUR(Bf16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", float, "+f", 0x80008000u);
MMA_OF_FOUR(Tf32, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", float, "+f", 0x80000000u);
MMA_OF_FOUR(Int8, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", int, "+r", 0u);

// Sums in half precision: twice as fast on some GPUs.
struct Fp16Sums {
    using Word = unsigned;
    using Sum = unsigned;
    static constexpr int WORDS_A = 4, WORDS_B = 2, WORDS_C = 2;
    static constexpr unsigned SIGNS = 0x80008000u;
    static __device__ void multiply(unsigned *c, const unsigned *a, const unsigned *b)
    {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                     : "+r"(c[0]), "+r"(c[1])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

struct Fp64 {
    using Word = double;
    using Sum = double;
    static constexpr int WORDS_A = 1, WORDS_B = 1, WORDS_C = 2;
    static constexpr unsigned SIGNS = 0;
    static __device__ void multiply(double *c, const double *a, const double *b)
    {
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(c[0]), "+d"(c[1])
                     : "d"(a[0]), "d"(b[0]));
    }
};

#define MMA_KERNEL(NAME, SHAPE)                                                                                        \
    extern "C" __global__ void NAME(const SHAPE::Word *operands, SHAPE::Sum *results, int rounds)                      \
    {                                                                                                                  \
        products<SHAPE>(operands, results, rounds);                                                                    \
    }

MMA_KERNEL(mma_fp16, Fp16)
MMA_KERNEL(mma_fp16_sums, Fp16Sums)
MMA_KERNEL(mma_bf16, Bf16)
MMA_KERNEL(mma_tf32, Tf32)
MMA_KERNEL(mma_int8, Int8)
MMA_KERNEL(mma_fp64, Fp64)

#if __CUDA_ARCH__ >= 900
struct Fp64Large {
    using Word = double;
    using Sum = double;
    static constexpr int WORDS_A = 8, WORDS_B = 4, WORDS_C = 4;
    static constexpr unsigned SIGNS = 0;
    static __device__ void multiply(double *c, const double *a, const double *b)
    {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
                     "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
                     : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                     : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
                       "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
    }
};

MMA_KERNEL(mma_fp64_large, Fp64Large)
#endif

#endif
