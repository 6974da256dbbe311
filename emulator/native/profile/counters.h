// The counters of a profile, as they are reported. emulator/profile/counters.py lists them and says what each means;
// the build generates profile/counter_table.h from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/counter_table.h"

namespace emu {

// The first types of flops are counted for each lane, the others (of matrix instructions) for each warp.
constexpr uint32_t class_count = EMU_CLASS_COUNT, flop_types = EMU_FLOP_TYPES, lane_flop_types = EMU_LANE_FLOP_TYPES;

#define EMU_FIELD(name) uint64_t name = 0;

struct Counters {
    uint64_t warp_instructions[class_count] = {};
    EMU_COUNTERS(EMU_FIELD)
    uint64_t flops[flop_types] = {};

    void add(const Counters &other);
    // Each becomes the larger of the two.
    void raise(const Counters &other);
    // In clocks of a multiprocessor, roughly: the order of the worst lines.
    double cost() const;
};

// What a launch has once. `registers_per_thread` is 0 where it is not known.
struct LaunchCounters {
    EMU_LAUNCH_COUNTERS(EMU_FIELD)
};

#undef EMU_FIELD

struct LineCounters {
    std::string file;
    uint32_t line;
    Counters counters;
};

struct LaunchProfile : LaunchCounters {
    Counters totals;
    Counters busiest_block, busiest_warp;  // of each counter the most that one of them has
    std::vector<LineCounters> lines;       // the worst, worst first
};

template <class Wire>
void pass(Wire &wire, Counters &it) {
    wire(it.warp_instructions);
#define EMU_FIELD(name) wire(it.name);
    EMU_COUNTERS(EMU_FIELD)
#undef EMU_FIELD
    wire(it.flops);
}

template <class Wire>
void pass(Wire &wire, LineCounters &it) {
    wire(it.file, it.line, it.counters);
}

template <class Wire>
void pass(Wire &wire, LaunchProfile &it) {
    wire(it.totals, it.busiest_block, it.busiest_warp, it.lines);
#define EMU_FIELD(name) wire(it.name);
    EMU_LAUNCH_COUNTERS(EMU_FIELD)
#undef EMU_FIELD
}

}  // namespace emu
