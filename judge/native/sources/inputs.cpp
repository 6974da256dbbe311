// Makes the elements of a recipe, as judge/packs/data/recipes.py defines them. Compiled without contraction: every
// product and every sum is rounded by itself.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "parallel.h"
#include "philox.h"

namespace gpujudge {
namespace {

// judge.wire.recipe and judge.wire.elements: change them together.
enum Kind { kUniform = 1, kNormal = 2, kIntegers = 3 };
enum Element {
    kInt8,
    kUint8,
    kInt16,
    kUint16,
    kInt32,
    kUint32,
    kInt64,
    kUint64,
    kFloat16,
    kFloat32,
    kFloat64,
    kBool,
    kBFloat16,
    kFloat8E4M3,
    kFloat8E5M2,
};

// Fewer are not worth a thread.
constexpr std::size_t kElementsAThread = 1 << 15;
constexpr std::size_t kBytesAThread = 1 << 18;

struct Half {
    std::uint16_t bits;
};

// Rounded to nearest even, without a branch.
Half to_half(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7FFFFFFF;
    // Rebiased by -112; what the rounding carries goes into the exponent, up to infinity.
    const std::uint32_t normal = (magnitude - (112u << 23) + 0xFFF + (magnitude >> 13 & 1)) >> 13;
    // The spacing of floats from 0.5 on is that of subnormal halves.
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000;
    const std::uint32_t nan = 0x7E00 | (magnitude >> 13 & 0x3FF);
    std::uint32_t half = magnitude < 113u << 23 ? subnormal : normal;
    half = magnitude >= 143u << 23 ? 0x7C00 : half;
    half = magnitude > 0x7F800000 ? nan : half;
    return {static_cast<std::uint16_t>(half | (bits >> 16 & 0x8000))};
}

// A type that judge/packs/data/storage.py rounds to: to nearest even, and to kOverflow what is too large.
template <class T, int kExponent, int kMantissa, std::uint32_t kOverflow>
struct Narrow {
    T bits;

    static Narrow from(float value) {
        constexpr int kShift = 23 - kMantissa, kBias = (1 << (kExponent - 1)) - 1, kRebias = 127 - kBias;
        const auto all = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t magnitude = all & 0x7FFFFFFF;
        std::uint32_t code = (magnitude - (static_cast<std::uint32_t>(kRebias) << 23) + ((1u << (kShift - 1)) - 1) +
                              (magnitude >> kShift & 1)) >>
                             kShift;
        if constexpr (kRebias > 0) {
            // The spacing of floats from this power of two on is that of the subnormal numbers.
            constexpr std::uint32_t kBase = static_cast<std::uint32_t>(24 - kBias - kMantissa + 127) << 23;
            const float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kBase);
            if (magnitude < static_cast<std::uint32_t>(kRebias + 1) << 23)
                code = std::bit_cast<std::uint32_t>(sum) - kBase;
        }
        if (magnitude >= 0x7F800000 || code > kOverflow) code = kOverflow;
        return {static_cast<T>(code | all >> 31 << (kExponent + kMantissa))};
    }
};
using BFloat16 = Narrow<std::uint16_t, 8, 7, 0x7F80>;
using Float8E4M3 = Narrow<std::uint8_t, 4, 3, 0x7E>;
using Float8E5M2 = Narrow<std::uint8_t, 5, 2, 0x7B>;

template <class T, class Value>
T element(Value value) {
    if constexpr (std::is_same_v<T, Half>)
        return to_half(static_cast<float>(value));
    else if constexpr (requires { T::from(0.0f); })
        return T::from(static_cast<float>(value));
    else
        return static_cast<T>(value);
}

// What elements are mixed with (judge/packs/collection/pool.py), from the byte `offset` of the stream of `key` on.
struct Pool {
    bool used;
    Key key;
    std::uint64_t offset;
};

struct Recipe {
    Kind kind;
    Key key;
    double offset, scale;
    Pool pool;
};

template <class Word>
Word mixed(Word word, std::uint64_t number) {
    const std::uint64_t z = (2 * std::uint64_t{word} + 1) * (2 * number + 1) * 0x9E3779B97F4A7C15;
    return static_cast<Word>(sizeof(Word) == 4 ? z >> 32 : z ^ z >> 32);
}

// An unsigned number of as many bytes as an element.
template <std::size_t kBytes>
using Number = std::conditional_t<
    kBytes == 1, std::uint8_t,
    std::conditional_t<kBytes == 2, std::uint16_t, std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>>>;

template <class T, class Word, class Make>
void draw(const Recipe &recipe, std::uint64_t start, std::size_t count, T *out, const Make &make) {
    using Drawn = Number<sizeof(T)>;
    const std::uint64_t pool_start = recipe.pool.offset / sizeof(T) + start;
    for_words<Word>(recipe.key, start, count, [&](const Word *words, std::size_t n, std::size_t done) {
        if (!recipe.pool.used) {
            for (std::size_t i = 0; i < n; ++i) out[done + i] = element<T>(make(words[i]));
            return;
        }
        for_words<Drawn>(recipe.pool.key, pool_start + done, n,
                         [&](const Drawn *numbers, std::size_t m, std::size_t at) {
                             for (std::size_t i = 0; i < m; ++i)
                                 out[done + at + i] = element<T>(make(mixed(words[at + i], numbers[i])));
                         });
    });
}

template <class T>
void fill(const Recipe &recipe, std::uint64_t start, std::size_t count, T *out) {
    const auto offset = static_cast<float>(recipe.offset), scale = static_cast<float>(recipe.scale);
    if (recipe.kind == kIntegers) {
        const auto low = static_cast<std::int64_t>(recipe.offset);
        const auto values = static_cast<std::uint64_t>(recipe.scale);
        draw<T, std::uint32_t>(recipe, start, count, out, [=](std::uint32_t word) {
            return low + static_cast<std::int64_t>(word * values >> 32);
        });
    } else if constexpr (!std::is_integral_v<T>) {
        if (recipe.kind == kUniform)
            draw<T, std::uint32_t>(recipe, start, count, out, [=](std::uint32_t word) {
                return static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24f * scale + offset;
            });
        else
            draw<T, std::uint64_t>(recipe, start, count, out, [=](std::uint64_t word) {
                const std::uint64_t pairs = (word & 0x0000FFFF0000FFFF) + (word >> 16 & 0x0000FFFF0000FFFF);
                const auto sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(pairs + (pairs >> 32)));
                return static_cast<float>(sum - 131070) * scale + offset;
            });
    }
}

// Elements that lie together in the output: run r, from the element numbered starts[r] on, ends before ends[r].
struct Runs {
    const std::uint64_t *starts, *ends;
    std::size_t count;
};

template <class T>
void fill_all(const Recipe &recipe, const Runs &runs, void *out, unsigned threads) {
    const std::uint64_t *const first = runs.ends, *const last = first + runs.count;
    in_parallel(runs.count == 0 ? 0 : last[-1], kElementsAThread, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t run = std::upper_bound(first, last, begin) - first; begin < end; ++run) {
            const std::size_t run_begin = run == 0 ? 0 : first[run - 1];
            const std::size_t stop = std::min<std::size_t>(end, first[run]);
            fill(recipe, runs.starts[run] + (begin - run_begin), stop - begin, static_cast<T *>(out) + begin);
            begin = stop;
        }
    });
}

}  // namespace
}  // namespace gpujudge

#define EXPORT extern "C" __attribute__((visibility("default")))

// `count` runs of elements of an array to `out`, one after another: each from the element numbered `starts` on, up to
// the place `ends`. Kinds and types are numbered as in judge.wire.recipe; whole numbers are made by kIntegers alone.
// `pooled`: mixed with the pool of that key, in which the array's part begins at `pool_offset`.
EXPORT void gpujudge_fill_runs(int kind, int element, std::uint64_t key_low, std::uint64_t key_high, double offset,
                               double scale, bool pooled, std::uint64_t pool_low, std::uint64_t pool_high,
                               std::uint64_t pool_offset, const std::uint64_t *starts, const std::uint64_t *ends,
                               std::size_t count, void *out, unsigned threads) {
    using namespace gpujudge;
    const Runs runs = {starts, ends, count};
    const Pool pool = {pooled, {pool_low, pool_high}, pool_offset};
    const Recipe recipe = {static_cast<Kind>(kind), {key_low, key_high}, offset, scale, pool};
    switch (element) {
    case kInt8: return fill_all<std::int8_t>(recipe, runs, out, threads);
    case kUint8: return fill_all<std::uint8_t>(recipe, runs, out, threads);
    case kInt16: return fill_all<std::int16_t>(recipe, runs, out, threads);
    case kUint16: return fill_all<std::uint16_t>(recipe, runs, out, threads);
    case kInt32: return fill_all<std::int32_t>(recipe, runs, out, threads);
    case kUint32: return fill_all<std::uint32_t>(recipe, runs, out, threads);
    case kInt64: return fill_all<std::int64_t>(recipe, runs, out, threads);
    case kUint64: return fill_all<std::uint64_t>(recipe, runs, out, threads);
    case kFloat16: return fill_all<Half>(recipe, runs, out, threads);
    case kFloat32: return fill_all<float>(recipe, runs, out, threads);
    case kFloat64: return fill_all<double>(recipe, runs, out, threads);
    case kBool: return fill_all<std::uint8_t>(recipe, runs, out, threads);
    case kBFloat16: return fill_all<BFloat16>(recipe, runs, out, threads);
    case kFloat8E4M3: return fill_all<Float8E4M3>(recipe, runs, out, threads);
    case kFloat8E5M2: return fill_all<Float8E5M2>(recipe, runs, out, threads);
    }
}

// The places in `rows` where a run of consecutive numbers begins, to `begins`, which has room for `most`; how many, or
// more than `most` where there are more.
EXPORT std::size_t gpujudge_run_begins(const std::uint64_t *rows, std::size_t count, std::uint64_t *begins,
                                       std::size_t most) {
    // As a rule runs are long: a stretch without a beginning is passed over by vector instructions.
    constexpr std::size_t kStretch = 256;
    std::size_t runs = 0;
    for (std::size_t first = 0; first < count; first += kStretch) {
        const std::size_t last = std::min(count, first + kStretch);
        std::uint64_t differs = first == 0;
        for (std::size_t i = std::max<std::size_t>(1, first); i < last; ++i) differs |= (rows[i] - rows[i - 1]) ^ 1;
        for (std::size_t i = first; differs && i < last; ++i) {
            if (i != 0 && rows[i] - rows[i - 1] == 1) continue;
            if (runs == most) return most + 1;
            begins[runs++] = i;
        }
    }
    return runs;
}

// The `size` bytes of `source` XORed with those of the stream.
EXPORT void gpujudge_mask(std::uint64_t key_low, std::uint64_t key_high, const std::uint8_t *source, std::size_t size,
                          std::uint8_t *out, unsigned threads) {
    using namespace gpujudge;
    in_parallel(size, kBytesAThread, threads, [&](std::size_t begin, std::size_t end) {
        for_words<std::uint8_t>({key_low, key_high}, begin, end - begin,
                                [&](const std::uint8_t *stream, std::size_t n, std::size_t done) {
                                    for (std::size_t i = 0; i < n; ++i)
                                        out[begin + done + i] = source[begin + done + i] ^ stream[i];
                                });
    });
}
