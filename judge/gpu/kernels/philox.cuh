// The streams of judge/packs/streams.py: Philox4x64-10 (Salmon et al., 2011), block b at counter b + 1.
#pragma once

using u64 = unsigned long long;
using u32 = unsigned int;

struct Key {
    u64 low, high;
};

struct Block {
    u64 q[4];

    __device__ u32 w(int i) const { return static_cast<u32>(q[i / 2] >> (i % 2 * 32)); }
};

__device__ inline Block philox(u64 block, Key key) {
    u64 c0 = block + 1, c1 = 0, c2 = 0, c3 = 0;
#pragma unroll
    for (int round = 0; round < 10; round++) {
        const u64 high0 = __umul64hi(0xD2E7470EE14C6C93ull, c0), low0 = 0xD2E7470EE14C6C93ull * c0;
        const u64 high1 = __umul64hi(0xCA5A826395121157ull, c2), low1 = 0xCA5A826395121157ull * c2;
        c0 = high1 ^ c1 ^ key.low;
        c1 = low1;
        c2 = high0 ^ c3 ^ key.high;
        c3 = low0;
        key.low += 0x9E3779B97F4A7C15ull;
        key.high += 0xBB67AE8584CAA73Bull;
    }
    return {{c0, c1, c2, c3}};
}

// The same as a function: for what is done a few times only, where code is dearer than time.
__device__ __noinline__ Block philox_called(u64 block, Key key) { return philox(block, key); }

// The 32-bit word of a stream at any position.
__device__ __noinline__ u32 word_at(Key key, u64 index) {
    const Block block = philox(index / 8, key);
    const int i = static_cast<int>(index % 8);
    const u64 q = i < 4 ? (i < 2 ? block.q[0] : block.q[1]) : (i < 6 ? block.q[2] : block.q[3]);
    return static_cast<u32>(q >> (i % 2 * 32));
}

__device__ inline u64 begin_of(u64 stratum, u64 count, u64 size) { return stratum * size / count; }

// The place in a stratum: its begin + ((word * its length) >> 32), the product having up to 96 bits.
__device__ __noinline__ u64 place_in(u64 stratum, u64 count, u64 size, Key key) {
    const u64 begin = begin_of(stratum, count, size), length = begin_of(stratum + 1, count, size) - begin;
    const u64 word = word_at(key, stratum);
    return begin + (__umul64hi(word, length) << 32 | word * length >> 32);
}

// The stratum in which a place lies.
__device__ inline u64 stratum_of(u64 place, u64 count, u64 size) { return ((place + 1) * count - 1) / size; }
