// Inputs by recipe (judge/runner/recipes.py), bit for bit what NumPy makes; and whether a buffer still holds them.
//
// A thread takes a block of the stream at a time: 8 elements, or 4 where an element takes a 64-bit word, or 32 bytes of
// a masked input. Sentinels and changes come after, in a launch of their own; before a comparison they are looked at
// and taken away again, so that it has to do with the stream alone.
#pragma once

#include <cuda_fp16.h>

#include "philox.cuh"

enum Kind : u32 { CONSTANT, UNIFORM, NORMAL, INTEGERS, MASKED };
enum Element : u32 { INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, FLOAT16, FLOAT32, FLOAT64 };

struct Recipe {
    Key key;
    double offset, scale;
    u64 value, plus, minus;
    Key sentinels_key, places_key, values_key;
    u32 kind, element, sentinels, changes;
};

// The bits of an element of each type, from the float32 number or the whole one that the recipe makes.
struct Half {
    using Bits = unsigned short;
    static __device__ Bits from(float x) { return __half_as_ushort(__float2half_rn(x)); }
    static __device__ Bits from(long long x) { return from(__ll2float_rn(x)); }
};
struct Single {
    using Bits = u32;
    static __device__ Bits from(float x) { return __float_as_uint(x); }
    static __device__ Bits from(long long x) { return from(__ll2float_rn(x)); }
};
struct Double {
    using Bits = u64;
    static __device__ Bits from(float x) { return __double_as_longlong(static_cast<double>(x)); }
    static __device__ Bits from(long long x) { return __double_as_longlong(__ll2double_rn(x)); }
};
template <typename T>
struct Integer {
    using Bits = T;
    static __device__ Bits from(long long x) { return static_cast<T>(x); }
};

__device__ inline float linear(float x, const Recipe& recipe) {
    // Two roundings, never fused.
    return __fadd_rn(__fmul_rn(x, static_cast<float>(recipe.scale)), static_cast<float>(recipe.offset));
}

// Each law makes PER elements of a block of the stream.
struct Uniform {
    static constexpr int PER = 8;
    static __device__ float make(const Block& block, int i, const Recipe& recipe) {
        return linear(__fmul_rn(static_cast<float>(block.w(i) >> 8), 0x1p-24f), recipe);
    }
};
struct Normal {
    static constexpr int PER = 4;
    static __device__ float make(const Block& block, int i, const Recipe& recipe) {
        const u64 q = block.q[i];
        const int sum = static_cast<int>((q & 0xFFFF) + (q >> 16 & 0xFFFF) + (q >> 32 & 0xFFFF) + (q >> 48));
        return linear(static_cast<float>(sum - 2 * 65535), recipe);
    }
};
struct Integers {
    static constexpr int PER = 8;
    static __device__ long long make(const Block& block, int i, const Recipe& recipe) {
        const u64 scaled = static_cast<u64>(block.w(i)) * static_cast<u64>(recipe.scale) >> 32;
        return static_cast<long long>(scaled) + static_cast<long long>(recipe.offset);
    }
};

template <typename Law, typename Type>
struct Drawn {
    using Bits = typename Type::Bits;
    static constexpr int PER = Law::PER;
    static __device__ void make(const Block& words, const Recipe& recipe, const u64*, Bits (&out)[PER]) {
#pragma unroll
        for (int i = 0; i < PER; i++) out[i] = Type::from(Law::make(words, i, recipe));
    }
};
template <typename T>
struct Constant {
    using Bits = T;
    static constexpr int PER = 8;
    static __device__ void make(const Block&, const Recipe& recipe, const u64*, Bits (&out)[PER]) {
#pragma unroll
        for (int i = 0; i < PER; i++) out[i] = static_cast<T>(recipe.value);
    }
};
struct Masked {
    // In words; the staged copy is padded to whole blocks.
    using Bits = u64;
    static constexpr int PER = 4;
    static __device__ void make(const Block& words, const Recipe&, const u64* staged, Bits (&out)[PER]) {
#pragma unroll
        for (int i = 0; i < PER; i++) out[i] = staged[i] ^ words.q[i];
    }
};

template <bool COMPARE>
struct Sweep {
    // `bytes` in all: the last block may be cut anywhere.
    template <typename Source>
    static __device__ bool run(void* data, u64 bytes, const Recipe& recipe, const void* staged) {
        using Bits = typename Source::Bits;
        constexpr int PER = Source::PER, SIZE = PER * sizeof(Bits), VECTORS = SIZE < 16 ? 1 : SIZE / 16;
        using Vector = typename Choose<SIZE < 16>::Type;
        const u64 blocks = (bytes + SIZE - 1) / SIZE, stride = static_cast<u64>(gridDim.x) * blockDim.x;
        bool same = true;
        for (u64 block = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; block < blocks; block += stride) {
            alignas(16) Bits made[PER];
            Source::make(philox(block, recipe.key), recipe, static_cast<const u64*>(staged) + 4 * block, made);
            unsigned char* target = static_cast<unsigned char*>(data) + block * SIZE;
            if (bytes - block * SIZE >= SIZE) {
#pragma unroll
                for (int i = 0; i < VECTORS; i++) {
                    Vector vector;
                    memcpy(&vector, reinterpret_cast<const unsigned char*>(made) + i * sizeof(Vector), sizeof(Vector));
                    if (COMPARE) {
                        same &= equal(vector, reinterpret_cast<const Vector*>(target)[i]);
                    } else {
                        reinterpret_cast<Vector*>(target)[i] = vector;
                    }
                }
            } else {
                const u32 left = static_cast<u32>(bytes - block * SIZE);
#pragma unroll
                for (int i = 0; i < PER; i++) same &= end(made[i], target, i * sizeof(Bits), left);
            }
        }
        return same;
    }

   private:
    // One of the last elements, byte by byte.
    template <typename Bits>
    static __device__ bool end(Bits bits, unsigned char* target, u32 at, u32 left) {
        bool same = true;
        for (u32 i = 0; i < sizeof(Bits) && at + i < left; i++) {
            const unsigned char byte = static_cast<unsigned char>(bits >> (8 * i));
            if (COMPARE) {
                same &= byte == target[at + i];
            } else {
                target[at + i] = byte;
            }
        }
        return same;
    }

    template <bool SHORT>
    struct Choose {
        using Type = uint4;
    };
    static __device__ bool equal(uint4 a, uint4 b) { return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w; }
    static __device__ bool equal(uint2 a, uint2 b) { return a.x == b.x && a.y == b.y; }
};
template <>
template <>
struct Sweep<false>::Choose<true> {
    using Type = uint2;
};
template <>
template <>
struct Sweep<true>::Choose<true> {
    using Type = uint2;
};

// Sentinels and changes. Those that share a place: the change wins.
template <bool COMPARE>
struct Plant {
    template <typename Source>
    static __device__ bool run(void* data, u64 bytes, const Recipe& recipe, const void*) {
        using Bits = typename Source::Bits;
        Bits* elements = static_cast<Bits*>(data);
        const u64 size = bytes / sizeof(Bits);
        bool same = true;
        for (u32 j = threadIdx.x; j < recipe.sentinels + recipe.changes; j += blockDim.x) {
            Bits bits;
            u64 place;
            if (j < recipe.sentinels) {
                place = place_in(j, recipe.sentinels, size, recipe.sentinels_key);
                if (recipe.changes) {
                    const u64 stratum = stratum_of(place, recipe.changes, size);
                    if (place_in(stratum, recipe.changes, size, recipe.places_key) == place) continue;
                }
                const u32 sign = word_at(recipe.sentinels_key, recipe.sentinels) & 1;
                bits = static_cast<Bits>((j + sign) % 2 ? recipe.minus : recipe.plus);
            } else {
                place = place_in(j - recipe.sentinels, recipe.changes, size, recipe.places_key);
                bits = element<Source>(place, recipe.values_key, recipe);
            }
            if (COMPARE) {
                same &= elements[place] == bits;
                elements[place] = element<Source>(place, recipe.key, recipe);
            } else {
                elements[place] = bits;
            }
        }
        return same;
    }

   private:
    template <typename Source>
    static __device__ typename Source::Bits element(u64 place, Key key, const Recipe& recipe) {
        typename Source::Bits made[Source::PER];
        Source::make(philox_called(place / Source::PER, key), recipe, nullptr, made);
        typename Source::Bits found = made[0];
#pragma unroll
        for (int i = 1; i < Source::PER; i++) found = place % Source::PER == i ? made[i] : found;
        return found;
    }
};

template <typename Work, typename Law>
__device__ bool of_floating(void* data, u64 bytes, const Recipe& recipe) {
    switch (recipe.element) {
        case FLOAT16: return Work::template run<Drawn<Law, Half>>(data, bytes, recipe, nullptr);
        case FLOAT64: return Work::template run<Drawn<Law, Double>>(data, bytes, recipe, nullptr);
        default: return Work::template run<Drawn<Law, Single>>(data, bytes, recipe, nullptr);
    }
}

template <typename Work, typename T>
__device__ bool of_integers(void* data, u64 bytes, const Recipe& recipe) {
    return Work::template run<Drawn<Integers, Integer<T>>>(data, bytes, recipe, nullptr);
}

// What an element's size decides is the same for signed and unsigned numbers.
template <typename Work>
__device__ bool work(void* data, u64 bytes, const Recipe& recipe, const void* staged) {
    const u32 element = recipe.element;
    switch (recipe.kind) {
        case UNIFORM: return of_floating<Work, Uniform>(data, bytes, recipe);
        case NORMAL: return of_floating<Work, Normal>(data, bytes, recipe);
        case INTEGERS:
            if (element <= UINT8) return of_integers<Work, unsigned char>(data, bytes, recipe);
            if (element <= UINT16) return of_integers<Work, unsigned short>(data, bytes, recipe);
            if (element <= UINT32) return of_integers<Work, u32>(data, bytes, recipe);
            if (element <= UINT64) return of_integers<Work, u64>(data, bytes, recipe);
            return of_floating<Work, Integers>(data, bytes, recipe);
        case MASKED: return Work::template run<Masked>(data, bytes, recipe, staged);
        default:
            if (element <= UINT8) return Work::template run<Constant<unsigned char>>(data, bytes, recipe, nullptr);
            if (element <= UINT16 || element == FLOAT16)
                return Work::template run<Constant<unsigned short>>(data, bytes, recipe, nullptr);
            if (element <= UINT32 || element == FLOAT32)
                return Work::template run<Constant<u32>>(data, bytes, recipe, nullptr);
            return Work::template run<Constant<u64>>(data, bytes, recipe, nullptr);
    }
}
