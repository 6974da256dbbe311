// The 64-bit word in shared memory that represents an mbarrier. PTX leaves its layout open; here, from the lowest bit:
// pending arrivals of the current phase (20 bits), expected arrivals of later phases (20), bytes that are still to come
// (21, signed), number of the phase (3). A state is such a word.
#pragma once

#include <cstdint>

namespace emu {

// Returns the word before the arrival. `bytes` more are expected first.
uint64_t arrive(uint64_t *mbarrier, uint32_t count, bool drop, uint32_t bytes = 0);
// Adds one pending arrival to the current phase.
void expect_one_more(uint64_t *mbarrier);
// So many bytes have come; the phase ends where nothing else is awaited.
void complete_bytes(uint64_t *mbarrier, uint32_t bytes);

// What the current phase still waits for.
struct MissingOfPhase {
    uint32_t arrivals;
    int32_t bytes;
};
MissingOfPhase missing_of_phase(const uint64_t *mbarrier);

}  // namespace emu
