// The bytes that one access of a warp touches, by cache lines and sectors.
#pragma once

#include <algorithm>
#include <cstdint>

#include "profile/cache_model.h"

namespace emu {

constexpr uint32_t all_lanes = 0xffffffffu;

class AccessFootprint {
public:
    struct Line {
        uint64_t number;
        uint64_t bytes[2];  // a bit each

        uint32_t sectors() const {
            uint32_t found = 0;
            for (uint32_t s = 0; s < 4; ++s) found |= uint32_t{(bytes[s / 2] >> (s % 2 * 32) & 0xffffffff) != 0} << s;
            return found;
        }
    };

    AccessFootprint() = default;

    // `size` bytes at each lane's address.
    AccessFootprint(uint32_t mask, const uint64_t *address, uint32_t size) {
        if (mask == all_lanes && is_consecutive(address, size)) {
            add(address[0], 32 * size);
        } else if (mask == all_lanes && is_consecutive(address, 0)) {
            add(address[0], size);
        } else {
            for (; mask; mask &= mask - 1) add(address[__builtin_ctz(mask)], size);
        }
    }

    // Each lane's address lies `size` bytes behind that of the lane before.
    static bool is_consecutive(const uint64_t *address, uint32_t size) {
        if (address[31] != address[0] + 31 * size) return false;
        uint64_t differs = 0;
        for (uint32_t lane = 0; lane < 32; ++lane) differs |= address[lane] ^ (address[0] + uint64_t{lane} * size);
        return !differs;
    }

    const Line *begin() const { return lines_; }
    const Line *end() const { return lines_ + count_; }

    uint64_t distinct_bytes() const {
        uint64_t bytes = 0;
        for (const Line &line : *this)
            bytes += __builtin_popcountll(line.bytes[0]) + __builtin_popcountll(line.bytes[1]);
        return bytes;
    }

    void add(uint64_t address, uint32_t size) {
        while (size) {
            uint32_t from = address % line_bytes, here = std::min(size, line_bytes - from);
            Line &line = find(address / line_bytes);
            for (uint32_t half = 0; half < 2; ++half) line.bytes[half] |= bits(from, from + here, 64 * half);
            address += here;
            size -= here;
        }
    }

private:
    // Bits [from, to) of a mask of 128, as far as they are in the word that begins at `base`.
    static uint64_t bits(uint32_t from, uint32_t to, uint32_t base) {
        uint32_t low = std::clamp(from, base, base + 64) - base, high = std::clamp(to, base, base + 64) - base;
        auto below = [](uint32_t n) { return n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; };
        return below(high) & ~below(low);
    }

    Line &find(uint64_t number) {
        for (uint32_t i = count_; i-- > 0;) {
            if (lines_[i].number == number) return lines_[i];
        }
        return lines_[count_++] = {number, {0, 0}};
    }

    Line lines_[256];  // 32 lanes, each of which may have eight words in as many lines of local memory
    uint32_t count_ = 0;
};

}  // namespace emu
