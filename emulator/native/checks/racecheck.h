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

#include "checks/map_fences.h"
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
        std::string missing = {};      // what would order the two, where more is known than follows from the above
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
    // Whether the other block wrote by a strong access at that time or later, and there was no fence between.
    bool lacks_fence(const Trace &other, Clock from) const;
    // `lane` and `other` are about to store different values to one address.
    void conflict(const WarpContext &warp, uint32_t site, uint32_t lane, uint32_t other, uint64_t address);
    // Whether nothing in constant memory was read there before.
    bool is_first_constant(uint32_t site);
    // An access to this address is ordered with the host's.
    void note_meeting_host(uint64_t address);
    bool is_noted(uint32_t site) const { return noted_conflicts_[site]; }
    // The write that was about to happen has happened.
    void settle() {
        if (!pending_.empty() || !stored_.empty()) decide();
    }
    // A plain store to `size` bytes is about to happen, of which this is a cell.
    void note_store(const Cell &cell, const Trace &store, uint64_t address, uint32_t size);
    // The last write that changed the cell, if the last one of all changed nothing: who reads there meets that. Empty
    // where no write of this launch changed it. Null if the last one did.
    const Trace *last_change(const Cell &cell) const;

    GlobalCells global;
    // The last access of a warp to the shared memory of another block of its cluster.
    struct Visit {
        const WarpContext *warp;
        uint32_t site, lane;
        uint64_t address, block;  // the block: whose warp it is
        Clock clock;
    };
    // What is known of a block's shared memory, for the others of its cluster.
    struct SharedOfBlock {
        Cells *cells = nullptr;
        bool has_ended = false;
        std::unordered_map<const WarpContext *, Visit> visits = {};
    };
    std::unordered_map<const BlockContext *, SharedOfBlock> shared_of;
    // Nothing makes the block that owns the address wait until that access is over.
    void outlive(const Visit &visit);
    Publications published;
    MapReleases map_releases;
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
    struct Stored {
        const Cell *cell;
        Trace before, now;
        uint64_t address;
        uint32_t size;
        uint8_t bytes[32];
    };
    // A store that changed nothing, and the last one before it that did.
    struct SilentStore {
        Trace store, change;
    };
    static constexpr size_t max_silent = 1 << 20;
    void decide();
    void keep_silent();
    void tell(Race &race);
    void note_silent(Race &race, bool sets_flag);
    Fault explanation_of(const Meeting &meeting, std::string kind, const std::string &missing) const;
    std::string missing_between(const Meeting &meeting) const;

    Launch &launch_;
    std::map<std::tuple<uint32_t, uint32_t, bool>, Race>
        races_;  // by the two sites, and whether it is in shared memory
    std::vector<Pending> pending_;
    std::vector<Stored> stored_;
    std::unordered_map<const Cell *, SilentStore> silent_;  // what is no longer a cell's write is out of date
    std::vector<bool> noted_conflicts_, read_constants_, noted_strong_, noted_visits_;  // by site
    std::vector<Trace> summed_with_;                                                    // by site
    std::unordered_map<uint64_t, std::vector<Clock>> unfenced_;                         // by block
};

}  // namespace emu
