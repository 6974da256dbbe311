#include "exec/fragment.h"

#include <unordered_map>

namespace emu::fragments {

namespace {

// Elements in one register, and how many different registers the fragment has.
uint32_t per_register(uint32_t type) { return bits_of_type(type) == 64 ? 1 : 32 / bits_of_type(type); }

uint32_t registers(Matrix matrix, Shape s, uint32_t type) {
    uint32_t elements = matrix == A ? s.m * s.k : matrix == B ? s.k * s.n : s.m * s.n;
    return elements / 32 / per_register(type);
}

}  // namespace

Element element_of(Matrix matrix, Shape s, uint32_t type, uint32_t lane, uint32_t r, uint32_t j) {
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
        made = {
            registers(matrix, s, type), per_register(type), matrix == B ? s.k : s.m, matrix == A ? s.k : s.n, {}, {}};
        for (uint32_t r = 0; r < made.registers; ++r) {
            for (uint32_t j = 0; j < made.per_register; ++j) {
                for (uint32_t lane = 0; lane < 32; ++lane)
                    made.elements.push_back(element_of(matrix, s, type, lane, r, j));
            }
        }
        for (Element at : made.elements) made.index.push_back(static_cast<uint16_t>(at.row * made.columns + at.column));
    }
    recent[matrix] = {key, &made};
    return made;
}

}  // namespace emu::fragments
