// Detects a warp that polls: it reaches the head of a loop in the same state as before, has read memory that others may
// change, and has written nothing in between. Such a round can repeat any number of times, and how often it does is
// chance, so the profile does not count it.
//
// Detection starts at the head of a loop that may poll (EmuKernel::polling). From there the warp counts its basic
// blocks in a separate tally, and its accesses are held back until it is known whether the round counts.
#pragma once

#include <cstdint>
#include <vector>

#include "abi.h"

namespace emu {

class PollDetector {
public:
    struct Access {
        uint32_t site, mask;
        uint64_t address[32];
    };

    // Called at the start of a block.
    void start();
    // The warp has read memory that others may change.
    void note_poll() { has_polled_ = true; }
    // The warp has had an effect that a thread can observe later.
    void note_effect() { has_acted_ = true; }
    // Holds the access back and returns true, if it may belong to a polling round.
    bool keep(uint32_t site, uint32_t mask, const uint64_t *address);
    // The warp pauses. Returns the held accesses that count after all. `polling`: by basic block, whether a loop that
    // may poll begins there.
    const std::vector<Access> &pause(WarpContext &, bool at_loop_head, const std::vector<bool> &polling);

    // Whether the warp only polls: its last round did not count, and it has executed no more than such a round since.
    bool waits() const { return waits_; }

    // Rounds that did not count, and instructions in them, since the block's start.
    uint64_t rounds() const { return rounds_; }
    uint64_t instructions() const { return instructions_; }

private:
    void watch(WarpContext &);
    void stop(WarpContext &);
    void count();
    void forget(const WarpContext &);
    void begin_round(const WarpContext &);

    bool is_watched_ = false, has_polled_ = false, has_acted_ = false, waits_ = false;
    // Since it was in `state_`.
    bool has_polled_since_ = false;
    uint32_t pauses_ = 0, rounds_since_ = 0;  // all, and those where loops that poll begin
    uint32_t pauses_of_round_ = 0;            // of the last one that did not count
    uint32_t window_ = 1;  // after so many rounds another state is taken: twice as many each time, since a round may
                           // have several loops
    uint64_t since_ = 0;   // the warp's instructions then
    uint64_t rounds_ = 0, instructions_ = 0;
    uint64_t *tally_ = nullptr;  // the one that counts
    std::vector<uint64_t> own_tally_;
    std::vector<uint8_t> state_;
    std::vector<Access> kept_, counted_;
};

}  // namespace emu
