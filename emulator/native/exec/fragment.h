// Fragments: which elements of a matrix each lane's registers hold.
//
// All fragments, of wmma and mma.sync, have the layout that PTX defines for mma.sync with shape m16n8k*: lane l is row
// l / 4 of a tile of eight rows and holds, from column (l % 4) * E, the E elements of one 32-bit register (f64: of one
// 64-bit register). Larger matrices are sequences of such tiles; wmma fragments with spare registers repeat them.
#pragma once

#include <cstdint>
#include <vector>

namespace emu::fragments {

// As emulator/jit/ops/tensor.py has them.
enum Type : uint32_t { F16, BF16, TF32, F64, S8, U8, S4, U4, B1, F32, S32 };
enum Matrix : uint32_t { A, B, C };

constexpr uint32_t bits_of_type(uint32_t type) {
    switch (type) {
    case F16:
    case BF16: return 16;
    case F64: return 64;
    case S8:
    case U8: return 8;
    case S4:
    case U4: return 4;
    case B1: return 1;
    default: return 32;
    }
}

struct Element {
    uint32_t row, column;
};

struct Shape {
    uint32_t m, n, k;
};

// The elements of all elements of a fragment, made once: [32 * (r * per_register + j) + lane].
struct Layout {
    uint32_t registers, per_register, rows, columns;
    std::vector<Element> elements;
    std::vector<uint16_t> index;  // of the same elements in the matrix by rows
};

const Layout &layout(Matrix, Shape, uint32_t type);

// Where element `j` of register `r` of lane `lane` lies in the matrix.
Element element_of(Matrix, Shape, uint32_t type, uint32_t lane, uint32_t r, uint32_t j);

// The bits of element (r, j) of a fragment held as arrays of 32 registers.
inline uint64_t element(const void *fragment, uint32_t type, uint32_t r, uint32_t j, uint32_t lane) {
    uint32_t bits = bits_of_type(type);
    if (bits == 64) return static_cast<const uint64_t *>(fragment)[32 * r + lane];
    uint32_t word = static_cast<const uint32_t *>(fragment)[32 * r + lane];
    return bits == 32 ? word : word >> (bits * j) & ((1u << bits) - 1);
}

}  // namespace emu::fragments
