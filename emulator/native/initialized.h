// Reads of memory that nothing has written: shared memory, and what cudaMalloc and its kin gave.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "observe.h"
#include "report.h"

namespace emu {

// Of one launch, all blocks of which run on one thread.
class InitCheck : public Observer {
  public:
    explicit InitCheck(Launch &launch) : launch_(launch) {}
    std::unique_ptr<BlockObserver> watch(BlockContext &block) override;
    void finish(Launch &launch) override;

    void tell(const WarpContext &warp, uint32_t site, uint32_t lane, uint64_t address, bool is_shared);

  private:
    Launch &launch_;
    std::map<std::pair<uint32_t, bool>, Fault> told_;  // by site
};

}  // namespace emu
