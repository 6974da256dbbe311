// Changing over between the uniform and the masked function: one value for the warp, or one for each lane.
#include <cstring>

#include "exec/semantics.h"

namespace {

template <class Word>
void spread(const uint8_t *scalar, uint8_t *at, const int64_t *pattern) {
    Word *lanes = reinterpret_cast<Word *>(at);
    Word first = *reinterpret_cast<const Word *>(scalar);
    for (int l = 0; l < 32; ++l)
        lanes[l] = pattern ? static_cast<Word>(first + static_cast<Word>(pattern[l] - pattern[0])) : first;
}

template <class Word>
bool holds(const uint8_t *at, const int64_t *pattern) {
    const Word *lanes = reinterpret_cast<const Word *>(at);
    Word first = lanes[0], different = 0;
    for (int l = 1; l < 32; ++l) {
        Word expected = pattern ? static_cast<Word>(first + static_cast<Word>(pattern[l] - pattern[0])) : first;
        different |= lanes[l] ^ expected;
    }
    return !different;
}

}  // namespace

void emu_spread(uint8_t *registers, const EmuShape *shapes, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const EmuShape &shape = shapes[i];
        uint8_t *at = registers + shape.lanes;
        const uint8_t *scalar = registers + shape.scalar;
        switch (shape.size) {
        case 0: break;  // kept as all ones or zero already
        case 1: spread<uint8_t>(scalar, at, shape.pattern); break;
        case 2: spread<uint16_t>(scalar, at, shape.pattern); break;
        case 4: spread<uint32_t>(scalar, at, shape.pattern); break;
        case 8: spread<uint64_t>(scalar, at, shape.pattern); break;
        default:
            for (int l = 0; l < 32; ++l) std::memcpy(at + l * shape.size, scalar, shape.size);
        }
    }
}

uint32_t emu_shapes_hold(uint8_t *registers, const EmuShape *shapes, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const EmuShape &shape = shapes[i];
        const uint8_t *at = registers + shape.lanes;
        bool good = true;
        switch (shape.size) {
        case 0: {
            uint32_t bits;
            std::memcpy(&bits, at, sizeof bits);
            good = bits + 1 < 2;
            break;
        }
        case 1: good = holds<uint8_t>(at, shape.pattern); break;
        case 2: good = holds<uint16_t>(at, shape.pattern); break;
        case 4: good = holds<uint32_t>(at, shape.pattern); break;
        case 8: good = holds<uint64_t>(at, shape.pattern); break;
        default:
            for (int l = 1; l < 32; ++l) good &= !std::memcmp(at + l * shape.size, at, shape.size);
        }
        if (!good) return 0;
        if (shape.size) std::memcpy(registers + shape.scalar, at, shape.size);
    }
    return 1;
}
