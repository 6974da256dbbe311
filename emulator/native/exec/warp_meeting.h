// Lanes of a warp that meet at .sync instructions: at one place generated code deals with them by itself; here is what
// it does where lanes are at different places.
//
// A lane waits until every lane that its mask names, and that has not ended, is at a .sync instruction of the same kind
// (opcode and modifiers): then the results of all of them are made from what each has brought, and they go on. Lanes
// for which that can never happen wait for ever, as on a GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "abi.h"

namespace emu {

// What the waiting lanes of one warp have brought.
struct WarpMeeting {
    WarpMeeting() { std::fill_n(number, 32, EMU_EXITED); }

    uint32_t number[32], site[32], kind[32], mask[32];
    uint64_t value[32], second[32], third[32];

    // The lanes that wait here, a bit each.
    uint32_t waiting(const WarpContext &) const;
    // Lets those go on whose lanes are all there. Returns whether there are any.
    bool settle(WarpContext &);
};

// "lanes 0 to 15 and 20".
std::string lanes_in_words(uint32_t lanes);

}  // namespace emu
