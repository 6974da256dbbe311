// What an access of a block meets: accesses of other threads to the same bytes, which the shadow memory remembers.
#pragma once

#include <cstdint>

#include "checks/racecheck.h"
#include "checks/shadow_memory.h"
#include "checks/vector_clocks.h"

namespace emu {

// One lane's access to the bytes of one cell.
struct Touch {
    Cell &cell;
    Trace now;
    bool writes, in_flight;  // in_flight: an asynchronous copy into the bytes has not landed
    const WarpContext &warp;
    uint32_t site, lane;
    uint64_t at;
};

// Of the block that runs in one context. Tells the check what nothing orders with what it meets.
class MetAccesses {
public:
    // `clocks`: the block's.
    MetAccesses(RaceCheck &check, const BlockClocks &clocks, const EmuKernel &kernel)
        : check_(check), clocks_(clocks), kernel_(kernel) {}
    void start(uint64_t block) {
        block_ = block;
        has_looked_ = false;
    }
    // The block has seen what others may have told it.
    void note_look() { has_looked_ = true; }

    // Remembers the access. True for a race, which is reported: once for each access of a lane is enough.
    bool touch(const Touch &touch);
    // A lane reads what another one of its warp has stored, both by volatile or relaxed accesses to shared memory. To
    // set a flag is something else: who waits for it has no common pace in mind.
    void of_lanes(const WarpContext &warp, uint32_t site, uint32_t lanes, const uint64_t *address, Cells &shared);

private:
    // The write that the access races with: `meets` says of the last one that it may. A load does not meet one that
    // changed nothing, but the last that did.
    template <class Meets>
    const Trace *met_write(const Touch &touch, Meets meets) const;
    bool comes_after(const Trace &then, const WarpContext &warp, uint32_t lane) const;
    // Whether another block may have said that it has read there: what was read is done before the block's next strong
    // write, with a fence or without one. To whom it was said is not known without a fence.
    bool may_be_told(const Trace &read) const;
    // Atomics, volatile and relaxed accesses that meet without an order: as if a fence were missing.
    void meet_strong(const Touch &touch);
    // Whether the scope of each of two strong accesses holds the other's thread.
    bool meets_in_scope(const Trace &one, const Trace &other) const;

    RaceCheck &check_;
    const BlockClocks &clocks_;
    const EmuKernel &kernel_;
    uint64_t block_ = 0;
    bool has_looked_ = false;
};

}  // namespace emu
