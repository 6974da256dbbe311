// One block as the race check sees it: the clocks of its warps, and who last read and wrote each word of its memory.
// Accesses that nothing orders go to RaceCheck, which explains and reports them.
#pragma once

#include <cstdint>
#include <memory>

#include "checks/racecheck.h"

namespace emu {

// `check` lives as long as the observer.
std::unique_ptr<BlockObserver> watch_block(RaceCheck &check, const BlockContext &block);

// A warp of the block, in this warp's cluster, whose shared memory has the address; null: none has.
const WarpContext *home_of(const WarpContext &warp, uint64_t address);

}  // namespace emu
