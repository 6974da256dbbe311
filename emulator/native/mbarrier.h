// The word in shared memory that an mbarrier is. PTX leaves it open; here it is, from the lowest bit: arrivals that the current phase
// still waits for (20 bits), arrivals of the phases to come (20), the phase's number (24). A state is such a word.
#pragma once

#include <cstdint>

namespace emu {

// Returns the word as it was before.
uint64_t arrive(uint64_t *mbarrier, uint32_t count, bool drop);
// The current phase waits for one arrival more.
void expect_one_more(uint64_t *mbarrier);

}  // namespace emu
