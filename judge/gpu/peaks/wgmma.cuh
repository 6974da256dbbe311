// What Hopper's tensor cores give by wgmma: 64 x 256 sums a warp group, both operands in shared memory. Two warp groups of a
// block, each with rows of its own, share the columns. As with mma.sync, a round subtracts the products of all slices
// and adds them again. Operands lie as their descriptors say: cores of 8 rows by 16 bytes, a core's 128 bytes in a
// row, the two cores of a slice beside one another, the next 8 rows 256 bytes further on.

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

constexpr int WARP_GROUPS = 2, SLICES = 4, ROWS = 64, COLUMNS = 256, SLICE_BYTES = 32;
constexpr int BYTES_A = ROWS * SLICE_BYTES, BYTES_B = COLUMNS * SLICE_BYTES;

__device__ unsigned long long descriptor(const unsigned char *tile)
{
    unsigned long long address = __cvta_generic_to_shared(tile);
    return (address & 0x3ffff) >> 4 | (unsigned long long)(128 >> 4) << 16 | (unsigned long long)(256 >> 4) << 32;
}

#define EIGHT(C, d, i) C(d[i]), C(d[i + 1]), C(d[i + 2]), C(d[i + 3]), C(d[i + 4]), C(d[i + 5]), C(d[i + 6]), C(d[i + 7])
#define SIXTY_FOUR(C, d, i)                                                                                            \
    EIGHT(C, d, i), EIGHT(C, d, i + 8), EIGHT(C, d, i + 16), EIGHT(C, d, i + 24), EIGHT(C, d, i + 32),                 \
        EIGHT(C, d, i + 40), EIGHT(C, d, i + 48), EIGHT(C, d, i + 56)
#define ALL_SUMS \
    "{" \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "

template <typename Shape> __device__ void group_products(const uint4 *operands, typename Shape::Sum *results, int rounds)
{
    extern __shared__ __align__(128) unsigned char shared[];
    for (int i = threadIdx.x; i < SLICES * (WARP_GROUPS * BYTES_A + BYTES_B) / 16; i += blockDim.x)
        reinterpret_cast<uint4 *>(shared)[i] = operands[i];
    // What ordinary stores wrote is read by the tensor cores, which go another way.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    unsigned long long a = descriptor(shared + threadIdx.x / 128 * SLICES * BYTES_A);
    unsigned long long b = descriptor(shared + WARP_GROUPS * SLICES * BYTES_A);
    typename Shape::Sum sums[128] = {};
    for (int half = -1; half < 2 * rounds; half += 2) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        if (half > 0)
#pragma unroll
            for (int slice = 0; slice < SLICES; slice++)
                Shape::template multiply<-1>(sums, a + slice * (BYTES_A >> 4), b + slice * (BYTES_B >> 4));
#pragma unroll
        for (int slice = 0; slice < SLICES; slice++)
            Shape::template multiply<1>(sums, a + slice * (BYTES_A >> 4), b + slice * (BYTES_B >> 4));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    if (blockIdx.x == 0)
        for (int i = 0; i < 128; i++)
            results[threadIdx.x * 128 + i] = sums[i];
}

#define WGMMA(NAME, INSTRUCTION, SUM, CONSTRAINT, TAIL, ...)                                                            \
    struct NAME {                                                                                                      \
        using Sum = SUM;                                                                                               \
        template <int SIGN> static __device__ void multiply(SUM *d, unsigned long long a, unsigned long long b)        \
        {                                                                                                              \
            asm volatile(INSTRUCTION " " ALL_SUMS "%128, %129, " TAIL ";"                                              \
                         : SIXTY_FOUR(CONSTRAINT, d, 0), SIXTY_FOUR(CONSTRAINT, d, 64)                                 \
                         : "l"(a), "l"(b) __VA_OPT__(,) __VA_ARGS__);                                                  \
        }                                                                                                              \
    }

// The tail: add to the sums; the signs of A and of B; neither is transposed (a choice that only 16-bit types have).
WGMMA(WideFp16, "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16", float, "+f", "1, %130, 1, 0, 0", "n"(SIGN));
WGMMA(WideBf16, "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16", float, "+f", "1, %130, 1, 0, 0", "n"(SIGN));
WGMMA(WideTf32, "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32", float, "+f", "1, %130, 1", "n"(SIGN));
WGMMA(WideInt8, "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8", int, "+r", "1");

#define WGMMA_KERNEL(NAME, SHAPE)                                                                                      \
    extern "C" __global__ void __launch_bounds__(128 * WARP_GROUPS, 1)                                                 \
        NAME(const uint4 *operands, SHAPE::Sum *results, int rounds)                                                   \
    {                                                                                                                  \
        group_products<SHAPE>(operands, results, rounds);                                                              \
    }

WGMMA_KERNEL(wgmma_fp16, WideFp16)
WGMMA_KERNEL(wgmma_bf16, WideBf16)
WGMMA_KERNEL(wgmma_tf32, WideTf32)
WGMMA_KERNEL(wgmma_int8, WideInt8)

#endif
