// Warps of which some lanes go first: they run until they have to wait for others of the warp (at __syncwarp(), a
// shuffle, a barrier), and only then come the others. So a missing __syncwarp() gives an answer that it may give on a
// GPU, whose lanes have had no common pace since compute capability 7.0.
//
// Only in kernels whose lanes were seen to meet at the same bytes without an order.
#pragma once

#include <cstdint>
#include <string>

namespace emu {

// From now on lanes of this kernel have no common pace, in observed launches whose order lets warps run ahead.
void note_meeting_lanes(const std::string &kernel);
bool have_lanes_met(const std::string &kernel);

// A bit for each lane that goes first: some, not all of them.
uint32_t lanes_ahead(uint64_t seed, uint64_t block, uint32_t warp);

}  // namespace emu
