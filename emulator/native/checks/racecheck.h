// racecheck: two threads access the same bytes, at least one of them writes, and nothing orders the two accesses.
//
// vector_clocks.h says what orders accesses. Strong accesses (atomic, volatile, relaxed) do not race with each other,
// nor do loads with which a loop of compare-and-swap begins, or a test of whether an atomic is worth it, race with
// strong ones (EMU_GUESS). Not found: races hidden by the simplifications there. Writes that do not change the memory
// (several threads that set the same flag) are told where the settings say so. Lanes of a warp that store different
// values to one address by one instruction do not race, since one of them stays on hardware, too; they are noted.
#pragma once

#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "checks/shadow_memory.h"
#include "exec/observe.h"
#include "report/report.h"

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
        bool other_writes, in_flight;  // in_flight: the other is an asynchronous copy that nobody has waited for
    };
    void meet(const Meeting &meeting);
    // What a lane is about to read, another has written, and nothing orders the two: no race, since both accesses are
    // strong. Noted; from now on a write of another block comes late, and lanes of one warp are apart.
    void meet_strong(const Meeting &meeting);
    // An atomic whose result nobody uses adds to what another block has written; what it was the last time.
    void note_sum(uint32_t site, const Trace &other) { summed_with_[site] = other; }
    const Trace &summed_with(uint32_t site) const { return summed_with_[site]; }
    // A block writes by a strong access without a fence: others may go on by it. `upto`: what it did, by warps.
    void note_unfenced(uint64_t block, const Clock *upto, uint32_t warps) {
        unfenced_[block].assign(upto, upto + warps);
    }
    // `lane` and `other` are about to store different values to one address.
    void conflict(const WarpContext &warp, uint32_t site, uint32_t lane, uint32_t other, uint64_t address);
    // Whether nothing in constant memory was read there before.
    bool is_first_constant(uint32_t site);
    // An access to this address is ordered with the host's.
    void note_meeting_host(uint64_t address);
    bool is_noted(uint32_t site) const { return noted_conflicts_[site]; }
    // The write that was about to happen has happened.
    void settle() {
        if (!pending_.empty()) decide();
    }

    GlobalCells global;
    // Of each block that is there, for the others of its cluster.
    std::unordered_map<const BlockContext *, Cells *> shared_of;
    Publications published;
    const bool follows_sites, follows_blocks;  // there are few enough of them

private:
    struct Race {
        Fault fault;
        uint64_t count = 0;
        bool reported = false, noted = false;
        uint32_t sites[2] = {};
        bool is_between_blocks = false;  // on global memory
    };
    // Whether a write changes anything is known after it.
    struct Pending {
        Race *race;
        uint64_t address;
        uint32_t size;
        bool sets_flag;  // both store a constant
        uint8_t before[32];
    };
    void decide();
    void tell(Race &race);
    void note_silent(Race &race, bool sets_flag);
    Fault explanation_of(const Meeting &meeting, std::string kind, const std::string &missing) const;
    std::string missing_between(const Meeting &meeting) const;
    // Whether the other block wrote by a strong access afterwards, and there was no fence between.
    bool lacks_fence(const Trace &other) const;

    Launch &launch_;
    std::map<std::tuple<uint32_t, uint32_t, bool>, Race>
        races_;  // by the two sites, and whether it is in shared memory
    std::vector<Pending> pending_;
    std::vector<bool> noted_conflicts_, read_constants_, noted_strong_;  // by site
    std::vector<Trace> summed_with_;                                     // by site
    std::unordered_map<uint64_t, std::vector<Clock>> unfenced_;          // by block
};

}  // namespace emu
