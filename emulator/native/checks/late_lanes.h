// Stores that were seen to race with a load by another lane of their warp, as late as hardware may show them to that
// lane: it runs ahead and reads what was there before. So a missing __syncwarp() between the two gives the answer that
// it may give on a GPU, whose lanes have had no common pace since compute capability 7.0.
//
// A store is done before its own lane touches the same bytes, before any other store or atomic there, before another
// warp's access to them, where lanes of its warp meet, at a barrier, at a fence, and at the end of the block.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/observe.h"

namespace emu {

// From now on the stores of this site are late for other lanes, in launches whose order lets warps run ahead.
void note_store_read_by_lanes(const std::string &kernel, uint32_t site);

// Of a launch, all blocks of which run on one thread.
class LateLanes : public Observer {
public:
    // Null where no store of the kernel races with lanes of its warp.
    static std::unique_ptr<LateLanes> of(const Launch &launch);
    explicit LateLanes(std::vector<bool> sites) : sites_(std::move(sites)) {}
    std::unique_ptr<BlockObserver> watch(BlockContext &block) override;

private:
    std::vector<bool> sites_;
};

}  // namespace emu
