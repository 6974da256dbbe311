#include <cuda_runtime.h>

// How the judge makes an element of a uniform input (judge/packs/pool.py, judge/packs/recipes.py): from the key of the call
// and the element's part of the pool.
using u64 = unsigned long long;
struct MadeFrom {
    u64 low, high;
    const unsigned* pool;
    float offset, scale;
};

// The eight elements of a block of the stream.
__device__ inline void make_eight(u64 block, const MadeFrom& from, float (&out)[8]) {
    u64 c0 = block + 1, c1 = 0, c2 = 0, c3 = 0, k0 = from.low, k1 = from.high;
#pragma unroll
    for (int round = 0; round < 10; round++) {
        const u64 h0 = __umul64hi(0xD2E7470EE14C6C93ull, c0), l0 = 0xD2E7470EE14C6C93ull * c0;
        const u64 h1 = __umul64hi(0xCA5A826395121157ull, c2), l1 = 0xCA5A826395121157ull * c2;
        c0 = h1 ^ c1 ^ k0;
        c1 = l1;
        c2 = h0 ^ c3 ^ k1;
        c3 = l0;
        k0 += 0x9E3779B97F4A7C15ull;
        k1 += 0xBB67AE8584CAA73Bull;
    }
    const u64 words[4] = {c0, c1, c2, c3};
    const uint4 first = reinterpret_cast<const uint4*>(from.pool)[2 * block];
    const uint4 second = reinterpret_cast<const uint4*>(from.pool)[2 * block + 1];
    const unsigned pool[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const u64 word = words[i / 2] >> (i % 2 * 32) & 0xFFFFFFFF;
        const u64 mixed = (2 * word + 1) * (2 * static_cast<u64>(pool[i]) + 1) * 0x9E3779B97F4A7C15ull;
        const float share = static_cast<float>(static_cast<unsigned>(mixed >> 40)) * 0x1p-24f;
        out[i] = __fadd_rn(__fmul_rn(share, from.scale), from.offset);
    }
}

// The eight elements as `input` holds them, loaded after the same work: what honest reading takes where all else is alike.
__device__ inline void read_eight(const float* input, u64 block, MadeFrom from, float (&out)[8]) {
    from.pool = reinterpret_cast<const unsigned*>(input);
    make_eight(block, from, out);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) sum += out[i];
    // The sum is never that large, but the compiler does not know it.
    const float more = sum > 1e30f ? sum : 0;
#pragma unroll
    for (int i = 0; i < 8; i++) out[i] = input[8 * block + i] + more;
}
