// Data races: two threads access the same bytes, one of them at least writes, and nothing orders the two.
//
// What orders accesses is said in clocks.h. Strong accesses (atomic, volatile, relaxed) do not race with each other. What is
// not seen: a race hidden by the simplifications there; several lanes of a warp that write one place by one instruction; writes
// that do not change what the memory holds (several threads that set the same flag); reads of what cp.async has not yet brought.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "observe.h"
#include "report.h"
#include "shadow.h"

namespace emu {

// Of one launch, all blocks of which run on one thread.
class RaceCheck : public Observer {
  public:
    explicit RaceCheck(Launch &launch);
    std::unique_ptr<BlockObserver> watch(BlockContext &block) override;
    void finish(Launch &launch) override;

    // What a lane is about to do meets what another thread did.
    struct Meeting {
        const WarpContext &warp;
        uint32_t site, lane;
        uint64_t address;
        uint64_t block;
        Trace other;
        bool other_writes;
    };
    void meet(const Meeting &meeting);
    // The write that was about to happen has happened.
    void settle() {
        if (!pending_.empty()) decide();
    }

    GlobalCells global;
    Publications published;
    const bool follows_sites, follows_blocks;  // there are few enough of them

  private:
    struct Told {
        Fault fault;
        uint64_t count = 0;
        bool told = false;
    };
    // Whether a write changes anything is known after it.
    struct Pending {
        Told *story;
        uint64_t address;
        uint32_t size;
        uint8_t before[32];
    };
    void decide();
    Fault story_of(const Meeting &meeting) const;

    Launch &launch_;
    std::map<std::tuple<uint32_t, uint32_t, bool>, Told> told_;  // by the two sites, and whether it is in shared memory
    std::vector<Pending> pending_;
};

}  // namespace emu
