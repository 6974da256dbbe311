// Matrix instructions. Every fragment, of wmma as of mma.sync, has the layout that PTX defines for mma.sync with shape m16n8k*: lane l is row
// l / 4 of a tile of eight rows, and holds, at column (l % 4) * E, the E elements of one 32-bit register (f64: one 64-bit one). Larger
// matrices are such tiles one after another; wmma fragments with registers to spare repeat them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "half.h"
#include "semantics.h"

namespace emu {
namespace {

enum Type : uint32_t { F16, BF16, TF32, F64, S8, U8, S4, U4, B1, F32, S32 };
enum Matrix : uint32_t { A, B, C };

constexpr uint32_t bits_of_type(uint32_t type) {
    switch (type) {
        case F16: case BF16: return 16;
        case F64: return 64;
        case S8: case U8: return 8;
        case S4: case U4: return 4;
        case B1: return 1;
        default: return 32;
    }
}

struct Place {
    uint32_t row, column;
};

struct Shape {
    uint32_t m, n, k;
};

// Elements in one register, and how many different registers the fragment has.
uint32_t per_register(uint32_t type) { return bits_of_type(type) == 64 ? 1 : 32 / bits_of_type(type); }

uint32_t registers(Matrix matrix, Shape s, uint32_t type) {
    uint32_t elements = matrix == A ? s.m * s.k : matrix == B ? s.k * s.n : s.m * s.n;
    return elements / 32 / per_register(type);
}

// Where element `j` of register `r` (below registers()) of lane `lane` lies in the matrix.
Place place_of(Matrix matrix, Shape s, uint32_t type, uint32_t lane, uint32_t r, uint32_t j) {
    uint32_t e = per_register(type), group = lane / 4, member = lane % 4;
    if (matrix == B) {
        uint32_t steps = s.k / (4 * e);
        return {r % steps * 4 * e + member * e + j, r / steps * 8 + group};
    }
    if (matrix == A) {
        uint32_t steps = s.k / (4 * e), halves = s.m == 8 ? 1 : 2;
        uint32_t block = r / (steps * halves), within = r % (steps * halves);
        return {block * 16 + within % halves * 8 + group, within / halves * 4 * e + member * e + j};
    }
    uint32_t element = r * e + j;  // two neighbours, then eight rows down, then the next tile to the right
    uint32_t pair = element % 2, rest = element / 2, halves = s.m == 8 ? 1 : 2;
    uint32_t half = rest % halves, tile = rest / halves, across = s.n / 8;
    return {tile / across * 16 + half * 8 + group, tile % across * 8 + member * 2 + pair};
}

// The places of all elements of a fragment, made once: [32 * (r * per_register + j) + lane].
struct Layout {
    uint32_t registers, per_register, rows, columns;
    std::vector<Place> places;
    std::vector<uint16_t> index;  // of the same elements in the matrix by rows
};

const Layout &layout(Matrix matrix, Shape s, uint32_t type) {
    static thread_local std::unordered_map<uint32_t, Layout> known;
    static thread_local struct {
        uint32_t key;
        const Layout *layout;
    } recent[3] = {};  // a kernel asks for the same few over and over
    uint32_t key = matrix | type << 2 | s.m << 6 | s.n << 12 | s.k << 18;
    if (recent[matrix].layout && recent[matrix].key == key) return *recent[matrix].layout;
    auto [at, is_new] = known.try_emplace(key);
    Layout &made = at->second;
    if (is_new) {
        made = {registers(matrix, s, type), per_register(type), matrix == B ? s.k : s.m, matrix == A ? s.k : s.n, {}, {}};
        for (uint32_t r = 0; r < made.registers; ++r) {
            for (uint32_t j = 0; j < made.per_register; ++j) {
                for (uint32_t lane = 0; lane < 32; ++lane) made.places.push_back(place_of(matrix, s, type, lane, r, j));
            }
        }
        for (Place at : made.places) made.index.push_back(static_cast<uint16_t>(at.row * made.columns + at.column));
    }
    recent[matrix] = {key, &made};
    return made;
}

// The bits of element (r, j) of a fragment held as arrays of 32 registers.
uint64_t element(const void *fragment, uint32_t type, uint32_t r, uint32_t j, uint32_t lane) {
    uint32_t bits = bits_of_type(type);
    if (bits == 64) return static_cast<const uint64_t *>(fragment)[32 * r + lane];
    uint32_t word = static_cast<const uint32_t *>(fragment)[32 * r + lane];
    return bits == 32 ? word : word >> (bits * j) & ((1u << bits) - 1);
}

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

constexpr uint32_t most_m = 32, most_n = 32, most_k = 256;

// Two elements of each lane, in turn: four lanes have eight neighbours, of a row (A, C) or of a column (B). `first`: their places.
template <class Number>
void put_pairs(Matrix matrix, uint32_t columns, const uint16_t *first, const Number *values, Number *out) {
    if (matrix == B) {
        for (uint32_t i = 0; i < 8; ++i) {
            for (uint32_t group = 0; group < 8; ++group) out[first[0] + i * columns + group] = values[8 * group + i];
        }
    } else {
        for (uint32_t group = 0; group < 8; ++group) std::memcpy(out + first[4 * group], values + 8 * group, 8 * sizeof(Number));
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
            for (uint32_t lane = 0; lane < 32; ++lane) values[lane] = number<Number>(element(fragment, type, r, j, lane), type);
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

// d += a b, eight columns and four rows at a time (every n is a multiple of 8, every m too): four sums that do not wait for one another.
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
    alignas(64) Number a[most_m * 16], b[16 * most_n], d[most_m * most_n];
};

// f16, bf16, tf32 and f64.
template <class Number>
void multiply_floats(Shape s, uint32_t type_a, uint32_t type_b, uint32_t type_c, uint32_t type_d, const void *a, const void *b,
                     const void *c, void *d) {
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
                Place at = to.places[32 * (r * to.per_register + j) + lane];
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
void multiply_integers(Shape s, uint32_t type_a, uint32_t type_b, bool saturate, bool by_and, const void *a, const void *b,
                       const void *c, void *d) {
    static thread_local int32_t ta[16 * most_k * 2], tb[most_k * most_n];
    int64_t td[most_m * most_n];
    int32_t sum[most_m * most_n] = {};
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
            Place at = to.places[32 * r + lane];
            int64_t value = td[at.row * s.n + at.column] + sum[at.row * s.n + at.column];
            if (saturate) value = std::clamp<int64_t>(value, INT32_MIN, INT32_MAX);
            static_cast<uint32_t *>(d)[32 * r + lane] = static_cast<uint32_t>(value);
        }
    }
}

uint64_t read_element(uint64_t address, uint32_t size) {
    uint64_t bits = 0;
    std::memcpy(&bits, reinterpret_cast<const void *>(address), size);
    return bits;
}

// Addresses of element (r, j) for all lanes.
void element_addresses(Matrix matrix, Shape s, uint32_t type, uint32_t by_column, const uint64_t *base, const uint32_t *stride,
                       uint32_t r, uint32_t j, uint64_t *out) {
    uint32_t size = bits_of_type(type) / 8;
    const Layout &from = layout(matrix, s, type);
    for (uint32_t lane = 0; lane < 32; ++lane) {
        Place at = from.places[32 * (r * from.per_register + j) + lane];
        uint64_t index = by_column ? uint64_t{at.column} * stride[lane] + at.row : uint64_t{at.row} * stride[lane] + at.column;
        out[lane] = base[lane] + index * size;
    }
}

// Less than a byte: `index` counts elements, and a register's elements are neighbours along k.
uint64_t packed_address(Matrix matrix, Shape s, uint32_t type, uint32_t lane, uint32_t r, uint64_t base, uint32_t stride) {
    Place at = place_of(matrix, s, type, lane, r, 0);
    uint64_t index = matrix == A ? uint64_t{at.row} * stride + at.column : uint64_t{at.column} * stride + at.row;
    return base + index * bits_of_type(type) / 8;
}

// Whether all lanes give one matrix (the same base and stride) whose first and last element are both good: then all are.
bool is_plain(WarpContext *warp, uint32_t site, uint32_t lanes, const Layout &m, uint32_t size, uint32_t by_column,
              const uint64_t *base, const uint32_t *stride) {
    uint32_t across = by_column ? m.rows : m.columns, down = by_column ? m.columns : m.rows;
    if (lanes != 0xffffffffu || stride[0] > 1u << 28) return false;
    for (uint32_t lane = 1; lane < 32; ++lane) {
        if (base[lane] != base[0] || stride[lane] != stride[0]) return false;
    }
    uint64_t last = base[0] + (uint64_t{down - 1} * stride[0] + across - 1) * size;
    return passes(warp, site, base[0]) && passes(warp, site, last);
}

template <class Word>
void load_plain(Matrix matrix, const Layout &m, uint64_t base, uint32_t stride, uint32_t by_column, void *out) {
    Word *to = static_cast<Word *>(out);
    const Word *from = reinterpret_cast<const Word *>(base);
    if constexpr (sizeof(Word) == 2) {  // four lanes have eight neighbours, as in put_pairs
        size_t down = by_column ? 1 : stride, right = by_column ? stride : 1;
        size_t next_four = matrix == B ? right : down, next = matrix == B ? down : right;
        for (uint32_t r = 0; r < m.registers; ++r, to += 64) {
            Place first = m.places[64 * r];
            const Word *here = from + first.row * down + first.column * right;
            for (uint32_t group = 0; group < 8; ++group, here += next_four) {
                if (next == 1) {
                    std::memcpy(to + 8 * group, here, 8 * sizeof(Word));
                } else {
                    for (uint32_t i = 0; i < 8; ++i) to[8 * group + i] = here[i * next];
                }
            }
        }
        return;
    }
    for (uint32_t r = 0; r < m.registers; ++r) {
        for (uint32_t j = 0; j < m.per_register; ++j) {
            const Place *places = &m.places[32 * (r * m.per_register + j)];
            for (uint32_t lane = 0; lane < 32; ++lane) {
                Place at = places[lane];
                size_t index = by_column ? size_t{at.column} * stride + at.row : size_t{at.row} * stride + at.column;
                to[(32 * r + lane) * m.per_register + j] = from[index];
            }
        }
    }
}

template <class Word>
void store_plain(const Layout &m, uint64_t base, uint32_t stride, uint32_t by_column, const void *data) {
    Word *to = reinterpret_cast<Word *>(base);
    const Word *from = static_cast<const Word *>(data);
    for (uint32_t r = 0; r < m.registers; ++r) {
        for (uint32_t j = 0; j < m.per_register; ++j) {
            const Place *places = &m.places[32 * (r * m.per_register + j)];
            for (uint32_t lane = 0; lane < 32; ++lane) {
                Place at = places[lane];
                size_t index = by_column ? size_t{at.column} * stride + at.row : size_t{at.row} * stride + at.column;
                to[index] = from[(32 * r + lane) * m.per_register + j];
            }
        }
    }
}

}  // namespace
}  // namespace emu

using namespace emu;

EMU_SEMANTICS void emu_wmma_load(WarpContext *warp, uint32_t site, uint32_t lanes, uint32_t which, uint32_t m, uint32_t n,
                                 uint32_t k, uint32_t type, uint32_t by_column, uint32_t count, const uint64_t *base,
                                 const uint32_t *stride, void *out) {
    Shape s{m, n, k};
    auto matrix = static_cast<Matrix>(which);
    const Layout &l = layout(matrix, s, type);
    uint32_t different = l.registers, e = l.per_register, bits = bits_of_type(type);
    if (bits >= 8 && is_plain(warp, site, lanes, l, bits / 8, by_column, base, stride)) {
        switch (bits) {
            case 8: load_plain<uint8_t>(matrix, l, base[0], stride[0], by_column, out); break;
            case 16: load_plain<uint16_t>(matrix, l, base[0], stride[0], by_column, out); break;
            case 32: load_plain<uint32_t>(matrix, l, base[0], stride[0], by_column, out); break;
            default: load_plain<uint64_t>(matrix, l, base[0], stride[0], by_column, out);
        }
        size_t bytes = size_t{128} * different * (bits == 64 ? 2 : 1);
        for (uint32_t copy = different; copy < count; copy += different) {
            std::memcpy(static_cast<uint8_t *>(out) + bytes * (copy / different), out, bytes);
        }
        return;
    }
    for (uint32_t r = 0; r < different; ++r) {
        uint64_t words[32] = {}, address[32];
        if (bits < 8) {
            for (uint32_t lane = 0; lane < 32; ++lane) address[lane] = packed_address(matrix, s, type, lane, r, base[lane], stride[lane]);
            check(warp, site, lanes, address);
            for (uint32_t lane = 0; lane < 32; ++lane) {
                if (lanes >> lane & 1) words[lane] = read_element(address[lane], 4);
            }
        } else {
            for (uint32_t j = 0; j < e; ++j) {
                element_addresses(matrix, s, type, by_column, base, stride, r, j, address);
                check(warp, site, lanes, address);
                for (uint32_t lane = 0; lane < 32; ++lane) {
                    if (lanes >> lane & 1) words[lane] |= read_element(address[lane], bits / 8) << (j * bits % 64);
                }
            }
        }
        for (uint32_t copy = r; copy < count; copy += different) {
            for (uint32_t lane = 0; lane < 32; ++lane) {
                if (bits == 64) {
                    static_cast<uint64_t *>(out)[32 * copy + lane] = words[lane];
                } else {
                    static_cast<uint32_t *>(out)[32 * copy + lane] = static_cast<uint32_t>(words[lane]);
                }
            }
        }
    }
}

EMU_SEMANTICS void emu_wmma_store(WarpContext *warp, uint32_t site, uint32_t lanes, uint32_t m, uint32_t n, uint32_t k,
                                  uint32_t type, uint32_t by_column, const uint64_t *base, const uint32_t *stride,
                                  const void *data) {
    Shape s{m, n, k};
    const Layout &l = layout(C, s, type);
    uint32_t count = l.registers, e = l.per_register, size = bits_of_type(type) / 8;
    if (is_plain(warp, site, lanes, l, size, by_column, base, stride)) {
        switch (size) {
            case 2: return store_plain<uint16_t>(l, base[0], stride[0], by_column, data);
            case 4: return store_plain<uint32_t>(l, base[0], stride[0], by_column, data);
            default: return store_plain<uint64_t>(l, base[0], stride[0], by_column, data);
        }
    }
    for (uint32_t r = 0; r < count; ++r) {
        for (uint32_t j = 0; j < e; ++j) {
            uint64_t address[32];
            element_addresses(C, s, type, by_column, base, stride, r, j, address);
            check(warp, site, lanes, address);
            for (uint32_t lane = 0; lane < 32; ++lane) {
                if (!(lanes >> lane & 1)) continue;
                uint64_t bits = element(data, type, r, j, lane);
                std::memcpy(reinterpret_cast<void *>(address[lane]), &bits, size);
            }
        }
    }
}

// What the lanes access of a matrix, as pieces of up to 16 bytes that lie together; `site` is that of single bytes, followed by those of
// pieces of 2, 4, 8 and 16 bytes.
EMU_SEMANTICS void emu_observe_matrix(WarpContext *warp, uint32_t site, uint32_t lanes, uint32_t which, uint32_t m, uint32_t n,
                                      uint32_t k, uint32_t type, uint32_t by_column, const uint64_t *base,
                                      const uint32_t *stride) {
    Shape s{m, n, k};
    auto matrix = static_cast<Matrix>(which);
    const Layout &l = layout(matrix, s, type);
    uint32_t bits = bits_of_type(type);
    uint64_t address[32];
    if (bits < 8) {
        for (uint32_t r = 0; r < l.registers; ++r) {
            for (uint32_t lane = 0; lane < 32; ++lane) address[lane] = packed_address(matrix, s, type, lane, r, base[lane], stride[lane]);
            emu_observe(warp, site + 2, lanes, address);
        }
        return;
    }
    uint32_t total = l.registers * l.per_register, size = bits / 8;
    for (uint32_t first = 0; first < total;) {
        uint32_t run = 1;
        while (first + run < total && run * size < 16) {
            Place a = l.places[32 * (first + run - 1)], b = l.places[32 * (first + run)];
            bool adjacent = by_column ? b.column == a.column && b.row == a.row + 1 : b.row == a.row && b.column == a.column + 1;
            if (!adjacent) break;
            ++run;
        }
        run = 1u << (31 - __builtin_clz(run));
        element_addresses(matrix, s, type, by_column, base, stride, first / l.per_register, first % l.per_register, address);
        emu_observe(warp, site + __builtin_ctz(run * size), lanes, address);
        first += run;
    }
}

// flags: 1 saturate, 2 combine bits by and.
EMU_SEMANTICS void emu_mma(uint32_t m, uint32_t n, uint32_t k, uint32_t type_a, uint32_t type_b, uint32_t type_c, uint32_t type_d,
                           uint32_t flags, const void *a, const void *b, const void *c, void *d) {
    Shape s{m, n, k};
    if (type_a == F64) return multiply_floats<double>(s, type_a, type_b, type_c, type_d, a, b, c, d);
    if (type_d == S32) return multiply_integers(s, type_a, type_b, flags & 1, flags & 2, a, b, c, d);
    multiply_floats<float>(s, type_a, type_b, type_c, type_d, a, b, c, d);
}

// Rows of matrix i are at the addresses of lanes 8 i .. 8 i + 7, sixteen bytes each.
EMU_SEMANTICS void emu_ldmatrix(WarpContext *warp, uint32_t site, uint32_t count, uint32_t transposed, uint64_t *address,
                                uint32_t *out) {
    uint32_t used = count == 4 ? 0xffffffffu : (1u << (8 * count)) - 1;
    check(warp, site, used, address);
    for (uint32_t i = 0; i < count; ++i) {
        uint16_t rows[8][8];
        for (uint32_t r = 0; r < 8; ++r) std::memcpy(rows[r], reinterpret_cast<const void *>(address[8 * i + r]), 16);
        for (uint32_t lane = 0; lane < 32; ++lane) {
            uint32_t group = lane / 4, first = lane % 4 * 2;
            uint32_t low = transposed ? rows[first][group] : rows[group][first];
            uint32_t high = transposed ? rows[first + 1][group] : rows[group][first + 1];
            out[32 * i + lane] = low | high << 16;
        }
    }
}

EMU_SEMANTICS void emu_movmatrix(const uint32_t *in, uint32_t *out) {
    for (uint32_t lane = 0; lane < 32; ++lane) {
        uint32_t row = lane % 4 * 2, column = lane / 4, word = 0;
        for (uint32_t j = 0; j < 2; ++j) {
            uint32_t from = (row + j) * 4 + column / 2;
            word |= (in[from] >> (16 * (column % 2)) & 0xffff) << (16 * j);
        }
        out[lane] = word;
    }
}
