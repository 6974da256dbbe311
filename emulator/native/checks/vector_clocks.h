// The order that barriers, warp syncs, atomics, volatile accesses and fences establish among the accesses of a launch.
//
// Vector clocks, reduced in size: a warp has one clock, which advances wherever others may learn of what it did before,
// and it knows a clock of every other warp of its block. Lanes are distinguished within their own warp only. Between
// blocks there is one time: a block that synchronises with another learns all that has been published so far. Both
// simplifications can hide a race; neither invents one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace emu {

using Clock = uint32_t;

// The order within one block.
class BlockClocks {
public:
    explicit BlockClocks(uint32_t threads);

    // A block begins.
    void start();

    Clock now(uint32_t warp) const { return clock_[warp]; }
    // Whether that lane comes after what a thread of its block did at `then`.
    bool knows(uint32_t warp, uint32_t lane, uint32_t thread, Clock then) const;

    // Up to which clock all lanes of the warp have met.
    Clock met(uint32_t warp) const { return together_[warp]; }

    void warp_sync(uint32_t warp, uint32_t lanes);
    void arrive(uint32_t warp, uint32_t barrier, uint32_t lanes, bool waits);
    void release(uint32_t barrier);
    // For all of the device.
    void fence(uint32_t warp);

    // Strong (atomic or volatile) accesses of one address pass on what is known. Of the block's own shared and global
    // memory alike.
    void learn(uint32_t warp, uint32_t lanes, uint64_t address);
    void pass_on(uint32_t warp, uint64_t address);
    // Later accesses are not among those that were passed on.
    void tick(uint32_t warp) { ++clock_[warp]; }

    // What the lane knows: of each lane of its warp, and of each warp of the block.
    void note(uint32_t warp, uint32_t lane, Clock own[32], std::vector<Clock> *of_warps) const;

    // Up to which clock of each warp other blocks may learn from this warp: all that it knows, or what it knew at its
    // last fence.
    const Clock *all(uint32_t warp);
    const Clock *fenced(uint32_t warp) const { return &fenced_[size_t{warp} * warps_]; }
    // The last time of `Publications` that this warp has learnt of.
    uint32_t seen(uint32_t warp) const { return seen_[warp]; }
    void see(uint32_t warp, uint32_t time) { seen_[warp] = time > seen_[warp] ? time : seen_[warp]; }

private:
    static constexpr uint32_t barriers = 17, slots = 1024;

    struct Barrier {
        std::vector<Clock> known, fenced;
        std::vector<uint32_t> waiting;  // lanes of each warp
        uint32_t seen = 0;
    };
    struct Lanes {
        Clock knows[32][32];
    };

    Clock *row(uint32_t warp) { return &knows_[size_t{warp} * warps_]; }
    void join(Clock *into, const Clock *from) const;
    Lanes &apart(uint32_t warp);

    uint32_t warps_, threads_;
    std::vector<Clock> clock_;
    std::vector<Clock> knows_, fenced_;  // for each warp a row
    std::vector<Clock> together_;        // every lane of the warp knows all of the warp up to here
    std::vector<uint8_t> is_apart_;      // lanes_ says more
    std::vector<Lanes> lanes_;
    std::vector<uint32_t> seen_;
    std::vector<Barrier> barrier_;
    std::vector<Clock>
        slots_;  // by hash of the address: those that share one are taken for one. Made when first needed.
    std::vector<uint8_t> slot_used_;
};

// The order between blocks: what each has made known to all, and when.
class Publications {
public:
    explicit Publications(uint32_t warps) : warps_(warps) {}

    // A strong write by a block: what its warps did up to `upto` (a clock each) is known from now on. `seen` goes on
    // with it.
    void pass_on(uint64_t block, const Clock *upto, uint32_t seen, uint64_t address);
    // A strong read: the time up to which it teaches.
    uint32_t learn(uint64_t address) const { return slots_.empty() ? 0 : slots_[slot(address)]; }

    bool known(uint64_t block, uint32_t warp, Clock then, uint32_t seen) const;
    // Too much was published to keep: everything counts as known from now on.
    bool exhausted() const { return exhausted_; }

private:
    static constexpr size_t slot_bits = 16, max_clocks = 32 << 20;
    static size_t slot(uint64_t address) { return (address >> 2) * 0x9e3779b97f4a7c15 >> (64 - slot_bits); }

    struct Block {
        std::vector<uint32_t> times;
        std::vector<Clock> upto;  // a row for each time
    };

    uint32_t warps_, now_ = 0;
    size_t kept_ = 0;
    bool exhausted_ = false;
    std::unordered_map<uint64_t, Block> blocks_;
    std::vector<uint32_t> slots_;
};

}  // namespace emu
