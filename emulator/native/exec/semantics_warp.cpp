// Communication between lanes, by helper where it is not a fixed permutation.
#include "exec/semantics.h"

EMU_SEMANTICS void emu_permute32(const uint32_t *value, const uint32_t *lane, uint32_t *out) {
    for (int l = 0; l < 32; ++l) out[l] = value[lane[l] & 31];
}

namespace {

// For each lane those of its mask that hold the same value (any), or the mask if all of them do (all).
template <class Word>
void match(bool all, uint32_t lanes, const Word *value, const uint32_t *mask, uint32_t *out, uint32_t *flags) {
    uint32_t matched = 0;
    for (uint32_t l = 0; l < 32; ++l) {
        if (!(lanes >> l & 1)) continue;
        uint32_t members = mask[l] & lanes, same = 0;
        for (uint32_t k = 0; k < 32; ++k) same |= uint32_t{members >> k & 1 && value[k] == value[l]} << k;
        if (!all) {
            out[l] = same;
        } else {
            out[l] = same == members ? members : 0;
            matched |= uint32_t{same == members} << l;
        }
    }
    *flags = matched;
}

}  // namespace

EMU_SEMANTICS void emu_match32(uint32_t all, uint32_t lanes, const uint32_t *value, const uint32_t *mask, uint32_t *out,
                               uint32_t *flags) {
    match(all, lanes, value, mask, out, flags);
}

EMU_SEMANTICS void emu_match64(uint32_t all, uint32_t lanes, const uint64_t *value, const uint32_t *mask, uint32_t *out,
                               uint32_t *flags) {
    match(all, lanes, value, mask, out, flags);
}

// code: an EmuAtomicOperation, | 16 when signed.
EMU_SEMANTICS void emu_redux(uint32_t code, uint32_t lanes, const uint32_t *value, const uint32_t *mask,
                             uint32_t *out) {
    for (uint32_t l = 0; l < 32; ++l) {
        if (!(lanes >> l & 1)) continue;
        uint32_t members = mask[l] & lanes, result = value[l];
        bool first = true;
        for (uint32_t k = 0; k < 32; ++k) {
            if (!(members >> k & 1)) continue;
            uint32_t v = value[k];
            bool less = code & 16 ? static_cast<int32_t>(v) < static_cast<int32_t>(result) : v < result;
            if (first) {
                result = v;
                first = false;
                continue;
            }
            switch (code & 15) {
            case ATOM_ADD: result += v; break;
            case ATOM_MIN: result = less ? v : result; break;
            case ATOM_MAX: result = less ? result : v; break;
            case ATOM_AND: result &= v; break;
            case ATOM_OR: result |= v; break;
            default: result ^= v;
            }
        }
        out[l] = result;
    }
}

// fns.b32: the position of the offset-th set bit from `base`, upward or downward; -1 when there is none.
EMU_SEMANTICS void emu_fns(const uint32_t *mask, const uint32_t *base, const int32_t *offset, uint32_t *out) {
    for (int l = 0; l < 32; ++l) {
        int32_t at = static_cast<int32_t>(base[l] & 31), wanted = offset[l], step = wanted < 0 ? -1 : 1;
        uint32_t found = 0xffffffffu;
        if (wanted == 0) {
            if (mask[l] >> at & 1) found = static_cast<uint32_t>(at);
        } else {
            int32_t left = wanted < 0 ? -wanted : wanted;
            for (; at >= 0 && at < 32; at += step) {
                if (mask[l] >> at & 1 && --left == 0) {
                    found = static_cast<uint32_t>(at);
                    break;
                }
            }
        }
        out[l] = found;
    }
}
