// Tells whether a warp only waits for others. It does where it comes to the beginning of a loop in the state in which it was there before,
// and has looked at what others may change, and changed nothing itself, in between: such a round can be repeated for ever, and
// whatever it consists of was for nothing. How often a warp looks in vain is chance, so these rounds do not count.
//
// A warp is watched from the beginning of a loop that polls (EmuKernel::polling): it counts its basic blocks in a tally of its own, and
// its accesses are kept, until it is known whether they count.
#pragma once

#include <cstdint>
#include <vector>

#include "abi.h"

namespace emu {

class Spin {
  public:
    struct Access {
        uint32_t site, mask;
        uint64_t address[32];
    };

    // At a block's start.
    void start();
    // The warp has looked at something that others may change.
    void look() { has_looked_ = true; }
    // It has done what others, or itself, can see later.
    void act() { has_acted_ = true; }
    // Whether the access is to be counted later, if at all.
    bool keep(uint32_t site, uint32_t mask, const uint64_t *address);
    // The warp stops running for now. Returns the accesses that are to be counted after all. `polling`: by basic block.
    const std::vector<Access> &pause(WarpContext &, bool at_loop_head, const std::vector<bool> &polling);

    // Whether the last round did not count, and it has not done more than such a round since.
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

    bool is_watched_ = false, has_looked_ = false, has_acted_ = false, waits_ = false;
    // Since it was in `state_`.
    bool has_looked_since_ = false;
    uint32_t pauses_ = 0, rounds_since_ = 0;  // all, and those where loops that poll begin
    uint32_t pauses_of_round_ = 0;            // of the last one that did not count
    uint32_t window_ = 1;  // after so many rounds another state is taken: twice as many each time, since a round may have several loops
    uint64_t since_ = 0;   // the warp's instructions then
    uint64_t rounds_ = 0, instructions_ = 0;
    uint64_t *tally_ = nullptr;  // the one that counts
    std::vector<uint64_t> own_tally_;
    std::vector<uint8_t> state_;
    std::vector<Access> kept_, counted_;
};

}  // namespace emu
