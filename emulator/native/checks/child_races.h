// Races between a grid and the launches that its threads have made.
//
// A child comes after what its thread knew when it launched: its own accesses before, and those of others that barriers
// and the like had ordered. All else that the parent does runs beside the child.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "abi.h"
#include "checks/shadow_memory.h"
#include "checks/vector_clocks.h"

namespace emu {

struct Launch;

// What a thread knows when it launches a child.
struct LaunchPoint {
    uint64_t block = 0;
    uint32_t warp = 0, seen = 0;
    Clock own[32] = {};           // of the lanes of its warp
    std::vector<Clock> of_warps;  // of its block
    bool is_known = false;        // an observer has filled it in
};

// What a grid did: its last accesses of each place.
struct ParentAccesses {
    const EmuKernel *kernel;
    uint32_t grid[3];
    CellPages pages;
    Publications published;

    bool is_before(const LaunchPoint &point, const Trace &then) const;
};

// A grid with accesses, and the place where it launched what runs now, or one of its ancestors.
struct Ancestor {
    std::shared_ptr<ParentAccesses> accesses;
    std::shared_ptr<LaunchPoint> point;
};

// Those of the launch that runs now, nearest first.
const std::vector<Ancestor> &ancestors();

// Reports where what the launch has touched races with its ancestors.
void check_against_ancestors(const Launch &launch, CellPages &pages);

// A copy, since the pages of a launch are handed on.
CellPages copy_of(const CellPages &pages);

}  // namespace emu
