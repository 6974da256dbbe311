// The figures of a profile (emulator/profile/counters.py says what they mean), as they are reported.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace emu {

// As CLASSES and FLOP_TYPES of emulator/profile/counters.py. The first types of flops are counted for each lane, the others (of matrix
// instructions) for each warp.
constexpr uint32_t class_count = 22, flop_types = 11, lane_flop_types = 4;

struct Figures {
    uint64_t warp_instructions[class_count] = {};
    uint64_t thread_instructions = 0;
    uint64_t global_requests = 0, global_sectors = 0, global_sectors_ideal = 0;
    uint64_t shared_wavefronts = 0, shared_wavefronts_ideal = 0;
    uint64_t l1_hit_sectors = 0, l2_sectors = 0;
    uint64_t atomics = 0, atomic_serialized = 0;
    uint64_t global_loads = 0, missed_loads = 0;
    uint64_t global_atomics = 0, awaited_global_atomics = 0, awaited_shared_atomics = 0, swap_rounds = 0;
    uint64_t dependent_steps = 0, dependent_loads = 0;
    uint64_t flops[flop_types] = {};

    void add(const Figures &other);
    // Each becomes the larger of the two.
    void raise(const Figures &other);
    // In clocks of a multiprocessor, roughly: the order of the worst lines.
    double cost() const;
};

struct LineFigures {
    std::string file;
    uint32_t line;
    Figures figures;
};

struct LaunchFigures {
    Figures totals;
    Figures busiest_block, busiest_warp;  // of each figure the most that one of them has
    std::vector<LineFigures> lines;  // the worst, worst first
    uint64_t dram_read_bytes, dram_write_bytes;
    uint64_t barriers;
    uint64_t critical_warp_instructions, critical_warp_barriers, busy_blocks;
    uint64_t dram_loads, critical_warp_dram_loads;
    uint64_t hottest_atomic_turns, hottest_float_atomic_turns, shared_atomic_turns, shared_increment_turns;
    uint64_t polls;
    uint32_t registers;  // 0: not known
    uint32_t static_shared_bytes, dynamic_shared_bytes, local_bytes;
};

template <class Wire>
void pass(Wire &wire, Figures &it) {
    wire(it.warp_instructions, it.thread_instructions, it.global_requests, it.global_sectors, it.global_sectors_ideal,
         it.shared_wavefronts, it.shared_wavefronts_ideal, it.l1_hit_sectors, it.l2_sectors, it.atomics,
         it.atomic_serialized, it.global_loads, it.missed_loads, it.global_atomics, it.awaited_global_atomics,
         it.awaited_shared_atomics, it.swap_rounds, it.dependent_steps, it.dependent_loads, it.flops);
}

template <class Wire>
void pass(Wire &wire, LineFigures &it) {
    wire(it.file, it.line, it.figures);
}

template <class Wire>
void pass(Wire &wire, LaunchFigures &it) {
    wire(it.totals, it.busiest_block, it.busiest_warp, it.lines, it.dram_read_bytes, it.dram_write_bytes, it.barriers,
         it.critical_warp_instructions, it.critical_warp_barriers, it.busy_blocks, it.dram_loads,
         it.critical_warp_dram_loads, it.hottest_atomic_turns, it.hottest_float_atomic_turns, it.shared_atomic_turns,
         it.shared_increment_turns, it.polls, it.registers, it.static_shared_bytes, it.dynamic_shared_bytes, it.local_bytes);
}

}  // namespace emu
