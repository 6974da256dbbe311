// Products of matrices.
#include <algorithm>
#include <cstring>

#include "exec/fragment.h"
#include "exec/half.h"
#include "exec/semantics.h"

namespace emu::fragments {
namespace {

template <class Number>
Number number(uint64_t bits, uint32_t type) {
    switch (type) {
    case F16: return static_cast<Number>(half_to_float(static_cast<uint16_t>(bits)));
    case BF16: return static_cast<Number>(bfloat_to_float(static_cast<uint16_t>(bits)));
    case TF32: return static_cast<Number>(float_of(static_cast<uint32_t>(bits) & 0xffffe000u));
    case F32: return static_cast<Number>(float_of(static_cast<uint32_t>(bits)));
    case F64: {
        double value;
        std::memcpy(&value, &bits, sizeof value);
        return static_cast<Number>(value);
    }
    case S8: return static_cast<Number>(static_cast<int8_t>(bits));
    case S4: return static_cast<Number>(static_cast<int32_t>(bits << 28) >> 28);
    case S32: return static_cast<Number>(static_cast<int32_t>(bits));
    default: return static_cast<Number>(bits);
    }
}

constexpr uint32_t max_m = 32, max_n = 32, max_k = 256;

// Two elements of each lane, in turn: four lanes have eight neighbours, of a row (A, C) or of a column (B). `first`:
// their elements.
template <class Number>
void put_pairs(Matrix matrix, uint32_t columns, const uint16_t *first, const Number *values, Number *out) {
    if (matrix == B) {
        for (uint32_t i = 0; i < 8; ++i) {
            for (uint32_t group = 0; group < 8; ++group) out[first[0] + i * columns + group] = values[8 * group + i];
        }
    } else {
        for (uint32_t group = 0; group < 8; ++group)
            std::memcpy(out + first[4 * group], values + 8 * group, 8 * sizeof(Number));
    }
}

// The matrix in plain order: A and C by rows, B by rows of k. `Type` is known, so that the loops stay small.
template <uint32_t type, class Number>
void unpack_typed(Matrix matrix, const Layout &from, const void *fragment, Number *out) {
    constexpr uint32_t per = bits_of_type(type) >= 32 ? 1 : 32 / bits_of_type(type);
    if constexpr (per == 2) {
        for (uint32_t r = 0; r < from.registers; ++r) {
            const auto *halves = static_cast<const uint16_t *>(fragment) + 64 * r;
            Number values[64];
            for (uint32_t i = 0; i < 64; ++i) values[i] = number<Number>(halves[i], type);
            put_pairs(matrix, from.columns, &from.index[64 * r], values, out);
        }
        return;
    }
    if constexpr (type == F32) {
        for (uint32_t r = 0; r < from.registers; r += 2) {
            const auto *floats = static_cast<const float *>(fragment) + 32 * r;
            Number values[64];
            for (uint32_t lane = 0; lane < 32; ++lane) {
                values[2 * lane] = floats[lane];
                values[2 * lane + 1] = floats[32 + lane];
            }
            put_pairs(C, from.columns, &from.index[32 * r], values, out);
        }
        return;
    }
    for (uint32_t r = 0; r < from.registers; ++r) {
        for (uint32_t j = 0; j < per; ++j) {
            const uint16_t *index = &from.index[32 * (r * per + j)];
            Number values[32];
            for (uint32_t lane = 0; lane < 32; ++lane)
                values[lane] = number<Number>(element(fragment, type, r, j, lane), type);
            for (uint32_t lane = 0; lane < 32; ++lane) out[index[lane]] = values[lane];
        }
    }
}

template <class Number>
void unpack(Matrix matrix, Shape s, uint32_t type, const void *fragment, Number *out) {
    const Layout &from = layout(matrix, s, type);
    switch (type) {
    case F16: return unpack_typed<F16>(matrix, from, fragment, out);
    case BF16: return unpack_typed<BF16>(matrix, from, fragment, out);
    case TF32: return unpack_typed<TF32>(matrix, from, fragment, out);
    case F64: return unpack_typed<F64>(matrix, from, fragment, out);
    case S8: return unpack_typed<S8>(matrix, from, fragment, out);
    case U8: return unpack_typed<U8>(matrix, from, fragment, out);
    case S4: return unpack_typed<S4>(matrix, from, fragment, out);
    case U4: return unpack_typed<U4>(matrix, from, fragment, out);
    case B1: return unpack_typed<B1>(matrix, from, fragment, out);
    case F32: return unpack_typed<F32>(matrix, from, fragment, out);
    default: return unpack_typed<S32>(matrix, from, fragment, out);
    }
}

// d += a b, eight columns and four rows at a time (every n is a multiple of 8, every m too): four sums that do not wait
// for one another.
template <class Number>
void multiply(Shape s, const Number *a, const Number *b, Number *d) {
    typedef Number Eight __attribute__((vector_size(8 * sizeof(Number))));
    auto load = [](const Number *from) {
        Eight values;
        std::memcpy(&values, from, sizeof values);
        return values;
    };
    auto store = [](Number *to, const Eight &values) { std::memcpy(to, &values, sizeof values); };
    for (uint32_t j = 0; j < s.n; j += 8) {
        for (uint32_t i = 0; i < s.m; i += 4) {
            const Number *left = a + i * s.k;
            Number *to = d + i * s.n + j;
            Eight sum0 = load(to), sum1 = load(to + s.n), sum2 = load(to + 2 * s.n), sum3 = load(to + 3 * s.n);
            for (uint32_t step = 0; step < s.k; ++step) {
                Eight right = load(b + step * s.n + j);
                sum0 += left[step] * right;
                sum1 += left[s.k + step] * right;
                sum2 += left[2 * s.k + step] * right;
                sum3 += left[3 * s.k + step] * right;
            }
            store(to, sum0);
            store(to + s.n, sum1);
            store(to + 2 * s.n, sum2);
            store(to + 3 * s.n, sum3);
        }
    }
}

template <class Number>
struct Tiles {
    alignas(64) Number a[max_m * 16], b[16 * max_n], d[max_m * max_n];
};

// f16, bf16, tf32 and f64.
template <class Number>
void multiply_floats(Shape s, uint32_t type_a, uint32_t type_b, uint32_t type_c, uint32_t type_d, const void *a,
                     const void *b, const void *c, void *d) {
    Tiles<Number> t;
    unpack(A, s, type_a, a, t.a);
    unpack(B, s, type_b, b, t.b);
    unpack(C, s, type_c, c, t.d);
    multiply(s, t.a, t.b, t.d);
    const Layout &to = layout(C, s, type_d);
    if (type_d == F32) {
        for (uint32_t r = 0; r < to.registers; r += 2) {
            float *out = static_cast<float *>(d) + 32 * r;
            Number values[64];
            for (uint32_t group = 0; group < 8; ++group) {
                std::memcpy(values + 8 * group, t.d + to.index[32 * r + 4 * group], 8 * sizeof(Number));
            }
            for (uint32_t lane = 0; lane < 32; ++lane) {
                out[lane] = static_cast<float>(values[2 * lane]);
                out[32 + lane] = static_cast<float>(values[2 * lane + 1]);
            }
        }
        return;
    }
    for (uint32_t r = 0; r < to.registers; ++r) {
        for (uint32_t lane = 0; lane < 32; ++lane) {
            uint64_t word = 0;
            for (uint32_t j = 0; j < to.per_register; ++j) {
                Element at = to.elements[32 * (r * to.per_register + j) + lane];
                Number value = t.d[at.row * s.n + at.column];
                if (type_d == F16) {
                    word |= uint64_t{float_to_half(static_cast<float>(value))} << (16 * j);
                } else if (type_d == F64) {
                    double wide = value;
                    std::memcpy(&word, &wide, sizeof word);
                } else {
                    word = bits_of(static_cast<float>(value));
                }
            }
            if (type_d == F64) {
                static_cast<uint64_t *>(d)[32 * r + lane] = word;
            } else {
                static_cast<uint32_t *>(d)[32 * r + lane] = static_cast<uint32_t>(word);
            }
        }
    }
}

// Integers, and single bits combined by xor or and and counted.
void multiply_integers(Shape s, uint32_t type_a, uint32_t type_b, bool saturate, bool by_and, const void *a,
                       const void *b, const void *c, void *d) {
    static thread_local int32_t ta[16 * max_k * 2], tb[max_k * max_n];
    int64_t td[max_m * max_n];
    int32_t sum[max_m * max_n] = {};
    unpack(A, s, type_a, a, ta);
    unpack(B, s, type_b, b, tb);
    unpack(C, s, S32, c, td);
    if (type_a == B1) {
        for (uint32_t i = 0; i < s.m; ++i) {
            for (uint32_t step = 0; step < s.k; ++step) {
                for (uint32_t j = 0; j < s.n; ++j) {
                    int32_t x = ta[i * s.k + step], y = tb[step * s.n + j];
                    sum[i * s.n + j] += by_and ? x & y : x ^ y;
                }
            }
        }
    } else {
        multiply(s, ta, tb, sum);
    }
    const Layout &to = layout(C, s, S32);
    for (uint32_t r = 0; r < to.registers; ++r) {
        for (uint32_t lane = 0; lane < 32; ++lane) {
            Element at = to.elements[32 * r + lane];
            int64_t value = td[at.row * s.n + at.column] + sum[at.row * s.n + at.column];
            if (saturate) value = std::clamp<int64_t>(value, INT32_MIN, INT32_MAX);
            static_cast<uint32_t *>(d)[32 * r + lane] = static_cast<uint32_t>(value);
        }
    }
}

}  // namespace
}  // namespace emu::fragments

using namespace emu;
using namespace emu::fragments;

// flags: 1 saturate, 2 combine bits by and.
EMU_SEMANTICS void emu_mma(uint32_t m, uint32_t n, uint32_t k, uint32_t type_a, uint32_t type_b, uint32_t type_c,
                           uint32_t type_d, uint32_t flags, const void *a, const void *b, const void *c, void *d) {
    Shape s{m, n, k};
    if (type_a == F64) return multiply_floats<double>(s, type_a, type_b, type_c, type_d, a, b, c, d);
    if (type_d == S32) return multiply_integers(s, type_a, type_b, flags & 1, flags & 2, a, b, c, d);
    multiply_floats<float>(s, type_a, type_b, type_c, type_d, a, b, c, d);
}
