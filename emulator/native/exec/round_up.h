#pragma once

#include <cstdint>

namespace emu {

// The least multiple of `multiple` that is at least `value`.
constexpr uint64_t round_up(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace emu
