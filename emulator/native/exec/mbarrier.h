// The 64-bit word in shared memory that represents an mbarrier. PTX leaves its layout open; here, from the lowest bit: pending arrivals
// of the current phase (20 bits), expected arrivals of later phases (20), number of the phase (24). A state is such a word.
#pragma once

#include <cstdint>

namespace emu {

// Returns the word before the arrival.
uint64_t arrive(uint64_t *mbarrier, uint32_t count, bool drop);
// Adds one pending arrival to the current phase.
void expect_one_more(uint64_t *mbarrier);

}  // namespace emu
