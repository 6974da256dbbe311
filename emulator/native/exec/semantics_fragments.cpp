// Fragments from memory and to it, and between the lanes.
#include <cstring>

#include "exec/fragment.h"
#include "exec/semantics.h"

namespace emu::fragments {
namespace {

uint64_t read_element(uint64_t address, uint32_t size) {
    uint64_t bits = 0;
    std::memcpy(&bits, reinterpret_cast<const void *>(address), size);
    return bits;
}

// Addresses of element (r, j) for all lanes.
void element_addresses(Matrix matrix, Shape s, uint32_t type, uint32_t by_column, const uint64_t *base,
                       const uint32_t *stride, uint32_t r, uint32_t j, uint64_t *out) {
    uint32_t size = bits_of_type(type) / 8;
    const Layout &from = layout(matrix, s, type);
    for (uint32_t lane = 0; lane < 32; ++lane) {
        Element at = from.elements[32 * (r * from.per_register + j) + lane];
        uint64_t index =
            by_column ? uint64_t{at.column} * stride[lane] + at.row : uint64_t{at.row} * stride[lane] + at.column;
        out[lane] = base[lane] + index * size;
    }
}

// Less than a byte: `index` counts elements, and a register's elements are neighbours along k.
uint64_t packed_address(Matrix matrix, Shape s, uint32_t type, uint32_t lane, uint32_t r, uint64_t base,
                        uint32_t stride) {
    Element at = element_of(matrix, s, type, lane, r, 0);
    uint64_t index = matrix == A ? uint64_t{at.row} * stride + at.column : uint64_t{at.column} * stride + at.row;
    return base + index * bits_of_type(type) / 8;
}

// Whether all lanes give one matrix (the same base and stride) whose first and last element are both good: then all
// are.
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

// Calls visit(index in the fragment's registers, index in memory) for every element.
template <class Visit>
void each_element(const Layout &m, uint32_t stride, uint32_t by_column, Visit visit) {
    for (uint32_t r = 0; r < m.registers; ++r) {
        for (uint32_t j = 0; j < m.per_register; ++j) {
            const Element *elements = &m.elements[32 * (r * m.per_register + j)];
            for (uint32_t lane = 0; lane < 32; ++lane) {
                Element at = elements[lane];
                size_t index = by_column ? size_t{at.column} * stride + at.row : size_t{at.row} * stride + at.column;
                visit((size_t{32} * r + lane) * m.per_register + j, index);
            }
        }
    }
}

template <class Word>
void load_plain(Matrix matrix, const Layout &m, uint64_t base, uint32_t stride, uint32_t by_column, void *out) {
    Word *to = static_cast<Word *>(out);
    const Word *from = reinterpret_cast<const Word *>(base);
    if constexpr (sizeof(Word) == 2) {  // four lanes have eight neighbours, as in put_pairs
        size_t down = by_column ? 1 : stride, right = by_column ? stride : 1;
        size_t next_four = matrix == B ? right : down, next = matrix == B ? down : right;
        for (uint32_t r = 0; r < m.registers; ++r, to += 64) {
            Element first = m.elements[64 * r];
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
    each_element(m, stride, by_column,
                 [&](size_t in_fragment, size_t in_memory) { to[in_fragment] = from[in_memory]; });
}

template <class Word>
void store_plain(const Layout &m, uint64_t base, uint32_t stride, uint32_t by_column, const void *data) {
    Word *to = reinterpret_cast<Word *>(base);
    const Word *from = static_cast<const Word *>(data);
    each_element(m, stride, by_column,
                 [&](size_t in_fragment, size_t in_memory) { to[in_memory] = from[in_fragment]; });
}

}  // namespace
}  // namespace emu::fragments

using namespace emu;
using namespace emu::fragments;

EMU_SEMANTICS void emu_wmma_load(WarpContext *warp, uint32_t site, uint32_t lanes, uint32_t which, uint32_t m,
                                 uint32_t n, uint32_t k, uint32_t type, uint32_t by_column, uint32_t count,
                                 const uint64_t *base, const uint32_t *stride, void *out) {
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
            for (uint32_t lane = 0; lane < 32; ++lane)
                address[lane] = packed_address(matrix, s, type, lane, r, base[lane], stride[lane]);
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

// What the lanes access of a matrix, as pieces of up to 16 bytes that lie together; `site` is that of single bytes,
// followed by those of pieces of 2, 4, 8 and 16 bytes.
EMU_SEMANTICS void emu_observe_matrix(WarpContext *warp, uint32_t site, uint32_t lanes, uint32_t which, uint32_t m,
                                      uint32_t n, uint32_t k, uint32_t type, uint32_t by_column, const uint64_t *base,
                                      const uint32_t *stride) {
    Shape s{m, n, k};
    auto matrix = static_cast<Matrix>(which);
    const Layout &l = layout(matrix, s, type);
    uint32_t bits = bits_of_type(type);
    uint64_t address[32];
    if (bits < 8) {
        for (uint32_t r = 0; r < l.registers; ++r) {
            for (uint32_t lane = 0; lane < 32; ++lane)
                address[lane] = packed_address(matrix, s, type, lane, r, base[lane], stride[lane]);
            emu_observe(warp, site + 2, lanes, address);
        }
        return;
    }
    uint32_t total = l.registers * l.per_register, size = bits / 8;
    for (uint32_t first = 0; first < total;) {
        uint32_t run = 1;
        while (first + run < total && run * size < 16) {
            Element a = l.elements[32 * (first + run - 1)], b = l.elements[32 * (first + run)];
            bool adjacent =
                by_column ? b.column == a.column && b.row == a.row + 1 : b.row == a.row && b.column == a.column + 1;
            if (!adjacent) break;
            ++run;
        }
        run = 1u << (31 - __builtin_clz(run));
        element_addresses(matrix, s, type, by_column, base, stride, first / l.per_register, first % l.per_register,
                          address);
        emu_observe(warp, site + __builtin_ctz(run * size), lanes, address);
        first += run;
    }
}

// Rows of matrix i are at the addresses of lanes 8 i .. 8 i + 7, sixteen bytes each.
EMU_SEMANTICS void emu_ldmatrix(WarpContext *warp, uint32_t site, uint32_t count, uint32_t transposed,
                                uint64_t *address, uint32_t *out) {
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
