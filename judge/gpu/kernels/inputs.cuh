// Inputs by recipe (judge/wire/recipes.py), bit for bit what NumPy makes; and whether a buffer still holds them.
//
// A thread takes a block of the stream at a time: 8 elements, or 4 where an element takes a 64-bit word, or 32 bytes of
// a masked input. What is drawn is mixed with the pool (judge/packs/pool.py), of which an element takes as many bytes as
// it has: who makes elements anew reads as much as who reads them. Sentinels and changes come after, in a launch of
// their own; a comparison is preceded by one that checks them and takes them away, and concerns the stream alone.
#pragma once

#include <cuda_fp16.h>

#include "philox.cuh"

enum Element : u32 {
    INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, FLOAT16, FLOAT32, FLOAT64, BOOL, BFLOAT16, FLOAT8_E4M3,
    FLOAT8_E5M2,
};

struct Recipe {
    Key key;
    double offset, scale;
    u64 value, plus, minus;
    Key sentinels_key, places_key, values_key, zeros_key;
    u32 kind, element, sentinels, changes, zeros_below, unused;
    u64 choices[16];
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
// A type that judge/packs/storage.py rounds to: to nearest even, and to OVERFLOW what is too large.
template <typename T, int EXPONENT, int MANTISSA, u32 OVERFLOW_CODE>
struct Narrow {
    using Bits = T;
    static __device__ Bits from(float x) {
        constexpr int SHIFT = 23 - MANTISSA, BIAS = (1 << (EXPONENT - 1)) - 1, REBIAS = 127 - BIAS;
        const u32 bits = __float_as_uint(x), magnitude = bits & 0x7FFFFFFF;
        u32 code = (magnitude - (static_cast<u32>(REBIAS) << 23) + ((1u << (SHIFT - 1)) - 1) +
                    (magnitude >> SHIFT & 1)) >> SHIFT;
        if (REBIAS > 0 && magnitude < static_cast<u32>(REBIAS + 1) << 23) {
            // The spacing of floats from this power of two on is that of the subnormal numbers.
            constexpr u32 BASE = static_cast<u32>(24 - BIAS - MANTISSA + 127) << 23;
            code = __float_as_uint(__fadd_rn(__uint_as_float(magnitude), __uint_as_float(BASE))) - BASE;
        }
        if (magnitude >= 0x7F800000 || code > OVERFLOW_CODE) code = OVERFLOW_CODE;
        return static_cast<T>(code | bits >> 31 << (EXPONENT + MANTISSA));
    }
    static __device__ Bits from(long long x) { return from(__ll2float_rn(x)); }
};
using BFloat16 = Narrow<unsigned short, 8, 7, 0x7F80>;
using Float8E4M3 = Narrow<unsigned char, 4, 3, 0x7E>;
using Float8E5M2 = Narrow<unsigned char, 5, 2, 0x7B>;
template <typename T>
struct Integer {
    using Bits = T;
    static __device__ Bits from(long long x) { return static_cast<T>(x); }
};

__device__ inline float linear(float x, const Recipe& recipe) {
    // Two roundings, never fused.
    return __fadd_rn(__fmul_rn(x, static_cast<float>(recipe.scale)), static_cast<float>(recipe.offset));
}

// A word of the stream mixed with as much of the pool as an element has bytes.
__device__ inline u64 mixed(u64 word, u64 number) { return (2 * word + 1) * (2 * number + 1) * 0x9E3779B97F4A7C15ull; }
__device__ inline u32 mixed32(const Block& block, int i, u64 number) {
    return static_cast<u32>(mixed(block.w(i), number) >> 32);
}

// Each law makes PER elements of a block of the stream, each with its `number` of the pool; `of` makes one of a word.
struct Uniform {
    static constexpr int PER = 8;
    static __device__ float of(u32 word, const Recipe& recipe) {
        return linear(__fmul_rn(static_cast<float>(word >> 8), 0x1p-24f), recipe);
    }
    static __device__ float make(const Block& block, int i, u64 number, const Recipe& recipe) {
        return of(mixed32(block, i, number), recipe);
    }
};
struct Normal {
    static constexpr int PER = 4;
    static __device__ float of(u64 q, const Recipe& recipe) {
        const int sum = static_cast<int>((q & 0xFFFF) + (q >> 16 & 0xFFFF) + (q >> 32 & 0xFFFF) + (q >> 48));
        return linear(static_cast<float>(sum - 2 * 65535), recipe);
    }
    static __device__ float make(const Block& block, int i, u64 number, const Recipe& recipe) {
        const u64 z = mixed(block.q[i], number);
        return of(z ^ z >> 32, recipe);
    }
};
struct Integers {
    static constexpr int PER = 8;
    static __device__ long long of(u32 word, const Recipe& recipe) {
        const u64 scaled = static_cast<u64>(word) * static_cast<u64>(recipe.scale) >> 32;
        return static_cast<long long>(scaled) + static_cast<long long>(recipe.offset);
    }
    static __device__ long long make(const Block& block, int i, u64 number, const Recipe& recipe) {
        return of(mixed32(block, i, number), recipe);
    }
};

// An unsigned number of as many bytes.
template <int BYTES>
struct NumberOf {
    using Type = u32;
};
template <>
struct NumberOf<1> {
    using Type = unsigned char;
};
template <>
struct NumberOf<2> {
    using Type = unsigned short;
};
template <>
struct NumberOf<8> {
    using Type = u64;
};

// `beside` is what a source needs beside its stream, all of it: the input's part of the pool, or the staged copy. Both
// are padded to whole blocks.
template <typename Law, typename Type>
struct Drawn {
    using Bits = typename Type::Bits;
    static constexpr int PER = Law::PER;
    static __device__ void make(u64 block, Key key, const Recipe& recipe, const void* beside, Bits (&out)[PER]) {
        using Number = typename NumberOf<sizeof(Bits)>::Type;
        struct alignas(PER * sizeof(Bits) < 16 ? PER * sizeof(Bits) : 16) Numbers {
            Number of[PER];
        };
        const Numbers numbers = static_cast<const Numbers*>(beside)[block];
        const Block words = philox(block, key);
#pragma unroll
        for (int i = 0; i < PER; i++) out[i] = Type::from(Law::make(words, i, numbers.of[i], recipe));
    }
};
template <typename T>
struct Constant {
    using Bits = T;
    static constexpr int PER = 8;
    static __device__ void make(u64, Key, const Recipe& recipe, const void*, Bits (&out)[PER]) {
#pragma unroll
        for (int i = 0; i < PER; i++) out[i] = static_cast<T>(recipe.value);
    }
};
struct Masked {
    // In words.
    using Bits = u64;
    static constexpr int PER = 4;
    static __device__ void make(u64 block, Key key, const Recipe&, const void* beside, Bits (&out)[PER]) {
        const u64* staged = static_cast<const u64*>(beside) + PER * block;
        const Block words = philox(block, key);
#pragma unroll
        for (int i = 0; i < PER; i++) out[i] = staged[i] ^ words.q[i];
    }
};

// What is rarer than the above, in one kernel for each size of an element: the kind and the type are looked at when it
// runs, for each element by itself. Slower, and quick to compile. Not mixed with the pool. Numbered as in
// judge/wire/recipe.py.
enum Kind : u32 { CONSTANT, UNIFORM, NORMAL, INTEGERS, MASKED, SORTED, STAIRS, ONE_HOT, CHOICE, PERMUTATION };

// The number that a permutation of those below `size` puts at `number`.
__device__ inline u64 permuted(Key key, u64 size, u64 number) {
    const int bits = size > 1 ? 64 - __clzll(static_cast<long long>(size - 1)) : 0;
    const int half = bits > 2 ? (bits + 1) / 2 : 1;
    const u64 mask = (1ull << half) - 1;
    do {
        u64 left = number >> half, right = number & mask;
#pragma unroll 1
        for (int round = 0; round < 4; round++) {
            u64 mixed = right + (round % 2 ? key.high : key.low) + (round + 1) * 0x9E3779B97F4A7C15ull;
            mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9ull;
            mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBull;
            const u64 next = left ^ ((mixed ^ mixed >> 31) & mask);
            left = right;
            right = next;
        }
        number = left << half | right;
    } while (number >= size);
    return number;
}

template <typename Value>
__device__ u64 floating_bits(Value value, u32 element) {
    switch (element) {
        case FLOAT16: return Half::from(value);
        case FLOAT64: return Double::from(value);
        case BFLOAT16: return BFloat16::from(value);
        case FLOAT8_E4M3: return Float8E4M3::from(value);
        case FLOAT8_E5M2: return Float8E5M2::from(value);
        default: return Single::from(value);
    }
}

// The bits of one element that is not zeroed. `word` is its own in the stream: 64 bits where it is normal, else 32.
__device__ __noinline__ u64 general_bits(u64 number, u64 word, const Recipe& recipe) {
    const u32 kind = recipe.kind;
    if (kind == NORMAL) return floating_bits(Normal::of(word, recipe), recipe.element);
    if (kind == PERMUTATION || kind == ONE_HOT) {
        const u64 length = static_cast<u64>(recipe.scale);
        u64 whole = 0;
        if (kind == ONE_HOT) {
            const u64 hot = static_cast<u64>(word_at(recipe.key, number / length)) * length >> 32;
            whole = number % length == hot;
        } else if (number < length) {
            // The last block of a sweep goes beyond the last number.
            whole = permuted(recipe.key, length, number);
        }
        const bool floating = recipe.element > UINT64 && recipe.element != BOOL;
        return floating ? floating_bits(static_cast<long long>(whole), recipe.element) : whole;
    }
    const u32 narrow = static_cast<u32>(word);
    if (kind == CHOICE) return recipe.choices[(word * static_cast<u64>(recipe.scale)) >> 32];
    if (kind == UNIFORM) return floating_bits(Uniform::of(narrow, recipe), recipe.element);
    long long whole;
    if (kind == INTEGERS) {
        whole = Integers::of(narrow, recipe);
    } else {
        // How far sorted values have risen. Every operation is rounded by itself.
        double place = __dmul_rn(static_cast<double>(narrow >> 8), 0x1p-24);
        if (kind == STAIRS && number == 0) place = 0;
        const double risen = __dmul_rn(__dadd_rn(place, __ull2double_rn(number)), recipe.scale);
        if (kind == SORTED) {
            return floating_bits(__double2float_rn(__dadd_rn(recipe.offset, risen)), recipe.element);
        }
        const long long step = __double2ll_rd(risen), last = static_cast<long long>(recipe.value);
        whole = (step < last ? step : last) + static_cast<long long>(recipe.offset);
    }
    const bool floating = recipe.element > UINT64 && recipe.element != BOOL;
    return floating ? floating_bits(whole, recipe.element) : static_cast<u64>(whole);
}

template <typename T>
struct General {
    using Bits = T;
    static constexpr int PER = 8;
    static __device__ void make(u64 block, Key key, const Recipe& recipe, const void*, Bits (&out)[PER]) {
        const bool wide = recipe.kind == NORMAL;
        const Block first = philox_called(wide ? 2 * block : block, key);
        const Block second = wide ? philox_called(2 * block + 1, key) : first;
        const Block zeros = recipe.zeros_below != 0 ? philox_called(block, recipe.zeros_key) : Block{};
#pragma unroll
        for (int i = 0; i < PER; i++) {
            const u64 word = wide ? (i < 4 ? first : second).q[i % 4] : first.w(i);
            const bool zero = zeros.w(i) < recipe.zeros_below;
            out[i] = zero ? T{} : static_cast<T>(general_bits(block * PER + i, word, recipe));
        }
    }
};

// One element of a source, of the stream of `key`: a change is drawn with another key than the recipe's.
template <typename Source>
struct ElementOf {
    static __device__ typename Source::Bits make(u64 place, Key key, const Recipe& recipe, const void* beside) {
        typename Source::Bits made[Source::PER];
        Source::make(place / Source::PER, key, recipe, beside, made);
        typename Source::Bits found = made[0];
#pragma unroll
        for (int i = 1; i < Source::PER; i++) found = place % Source::PER == i ? made[i] : found;
        return found;
    }
};
template <typename T>
struct ElementOf<General<T>> {
    static __device__ T make(u64 place, Key key, const Recipe& recipe, const void* beside) {
        Recipe other = recipe;
        other.key = key;
        const bool changes = key.low != recipe.key.low || key.high != recipe.key.high;
        if (changes) other.zeros_below = 0;
        T made[General<T>::PER];
        General<T>::make(place / General<T>::PER, key, other, beside, made);
        T found = made[0];
#pragma unroll
        for (int i = 1; i < General<T>::PER; i++) found = place % General<T>::PER == i ? made[i] : found;
        return found;
    }
};

// The widest vector of which a block of so many bytes has a whole number.
template <int SIZE>
struct Choose {
    using Type = uint4;
};
template <>
struct Choose<8> {
    using Type = uint2;
};
template <>
struct Choose<4> {
    using Type = u32;
};

template <bool COMPARE>
struct Sweep {
    // `bytes` in all: the last block may be cut anywhere.
    template <typename Source>
    static __device__ bool run(void* data, u64 bytes, const Recipe& recipe, const void* beside) {
        using Bits = typename Source::Bits;
        constexpr int PER = Source::PER, SIZE = PER * sizeof(Bits), VECTORS = SIZE < 16 ? 1 : SIZE / 16;
        using Vector = typename Choose<SIZE>::Type;
        const u64 blocks = (bytes + SIZE - 1) / SIZE, stride = static_cast<u64>(gridDim.x) * blockDim.x;
        bool same = true;
        for (u64 block = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; block < blocks; block += stride) {
            alignas(16) Bits made[PER];
            Source::make(block, recipe.key, recipe, beside, made);
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

    static __device__ bool equal(uint4 a, uint4 b) { return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w; }
    static __device__ bool equal(uint2 a, uint2 b) { return a.x == b.x && a.y == b.y; }
    static __device__ bool equal(u32 a, u32 b) { return a == b; }
};

__device__ inline u32 size_of(u32 element) {
    const u32 sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 1, 2, 1, 1};
    return sizes[element];
}

// A sentinel (its bits), or a change, and what changes are drawn with.
struct Planted {
    u64 place, bits;
    bool is_change;
    const void* beside;
};

// The one numbered `j`. Where a sentinel and a change share a place the change wins: false for the sentinel then.
__device__ inline bool planted(u32 j, u64 bytes, const Recipe& recipe, Planted& out) {
    const u64 size = bytes / size_of(recipe.element);
    out.is_change = j >= recipe.sentinels;
    if (out.is_change) {
        out.place = place_in(j - recipe.sentinels, recipe.changes, size, recipe.places_key);
        return true;
    }
    out.place = permuted(recipe.sentinels_key, size, j);
    out.bits = (j + word_at(recipe.sentinels_key, recipe.sentinels)) % 2 ? recipe.minus : recipe.plus;
    if (recipe.changes == 0) return true;
    const u64 stratum = stratum_of(out.place, recipe.changes, size);
    return place_in(stratum, recipe.changes, size, recipe.places_key) != out.place;
}

// One of them: puts it there, or looks whether it is there and puts back what was there before.
template <bool COMPARE>
struct Plant {
    template <typename Source>
    static __device__ bool run(void* data, u64, const Recipe& recipe, const Planted& planted) {
        using Bits = typename Source::Bits;
        Bits& target = static_cast<Bits*>(data)[planted.place];
        const Bits bits = planted.is_change
                              ? ElementOf<Source>::make(planted.place, recipe.values_key, recipe, planted.beside)
                              : static_cast<Bits>(planted.bits);
        const bool same = target == bits;
        target = COMPARE ? ElementOf<Source>::make(planted.place, recipe.key, recipe, planted.beside) : bits;
        return same || !COMPARE;
    }
};

// The kinds, each for the types that it can have. What an element's size decides is the same for signed and unsigned
// numbers. `rest`: what the work takes beside the recipe.
template <typename Work, typename Law, typename Rest>
__device__ bool of_floating(void* data, u64 bytes, const Recipe& recipe, const Rest& rest) {
    switch (recipe.element) {
        case FLOAT16: return Work::template run<Drawn<Law, Half>>(data, bytes, recipe, rest);
        case FLOAT64: return Work::template run<Drawn<Law, Double>>(data, bytes, recipe, rest);
        case BFLOAT16: return Work::template run<Drawn<Law, BFloat16>>(data, bytes, recipe, rest);
        case FLOAT8_E4M3: return Work::template run<Drawn<Law, Float8E4M3>>(data, bytes, recipe, rest);
        case FLOAT8_E5M2: return Work::template run<Drawn<Law, Float8E5M2>>(data, bytes, recipe, rest);
        default: return Work::template run<Drawn<Law, Single>>(data, bytes, recipe, rest);
    }
}

template <typename Work, typename Rest>
__device__ bool uniform(void* data, u64 bytes, const Recipe& recipe, const Rest& rest) {
    return of_floating<Work, Uniform>(data, bytes, recipe, rest);
}

template <typename Work, typename Rest>
__device__ bool normal(void* data, u64 bytes, const Recipe& recipe, const Rest& rest) {
    return of_floating<Work, Normal>(data, bytes, recipe, rest);
}

template <typename Work, typename T, typename Rest>
__device__ bool of_integers(void* data, u64 bytes, const Recipe& recipe, const Rest& rest) {
    return Work::template run<Drawn<Integers, Integer<T>>>(data, bytes, recipe, rest);
}

template <typename Work, typename Rest>
__device__ bool integers(void* data, u64 bytes, const Recipe& recipe, const Rest& rest) {
    if (recipe.element <= UINT8 || recipe.element == BOOL) return of_integers<Work, unsigned char>(data, bytes, recipe, rest);
    if (recipe.element <= UINT16) return of_integers<Work, unsigned short>(data, bytes, recipe, rest);
    if (recipe.element <= UINT32) return of_integers<Work, u32>(data, bytes, recipe, rest);
    if (recipe.element <= UINT64) return of_integers<Work, u64>(data, bytes, recipe, rest);
    return of_floating<Work, Integers>(data, bytes, recipe, rest);
}

template <typename Work, typename Rest>
__device__ bool constant(void* data, u64 bytes, const Recipe& recipe, const Rest& rest) {
    switch (size_of(recipe.element)) {
        case 1: return Work::template run<Constant<unsigned char>>(data, bytes, recipe, rest);
        case 2: return Work::template run<Constant<unsigned short>>(data, bytes, recipe, rest);
        case 4: return Work::template run<Constant<u32>>(data, bytes, recipe, rest);
        default: return Work::template run<Constant<u64>>(data, bytes, recipe, rest);
    }
}

template <typename Work, typename Rest>
__device__ bool masked(void* data, u64 bytes, const Recipe& recipe, const Rest& rest) {
    return Work::template run<Masked>(data, bytes, recipe, rest);
}

template <typename Work, typename Rest>
__device__ bool general(void* data, u64 bytes, const Recipe& recipe, const Rest& rest) {
    switch (size_of(recipe.element)) {
        case 1: return Work::template run<General<unsigned char>>(data, bytes, recipe, rest);
        case 2: return Work::template run<General<unsigned short>>(data, bytes, recipe, rest);
        case 4: return Work::template run<General<u32>>(data, bytes, recipe, rest);
        default: return Work::template run<General<u64>>(data, bytes, recipe, rest);
    }
}
