#include "figures.h"

#include "host.h"
#include "report.h"

namespace emu {

void Figures::add(const Figures &other) {
    for (uint32_t i = 0; i < class_count; ++i) warp_instructions[i] += other.warp_instructions[i];
    for (uint32_t i = 0; i < flop_types; ++i) flops[i] += other.flops[i];
    thread_instructions += other.thread_instructions;
    global_requests += other.global_requests;
    global_sectors += other.global_sectors;
    global_sectors_ideal += other.global_sectors_ideal;
    shared_wavefronts += other.shared_wavefronts;
    shared_wavefronts_ideal += other.shared_wavefronts_ideal;
    l1_hit_sectors += other.l1_hit_sectors;
    l2_sectors += other.l2_sectors;
    atomics += other.atomics;
    atomic_serialized += other.atomic_serialized;
    global_loads += other.global_loads;
    global_atomics += other.global_atomics;
    awaited_global_atomics += other.awaited_global_atomics;
    awaited_shared_atomics += other.awaited_shared_atomics;
    swap_rounds += other.swap_rounds;
}

// Four schedulers issue an instruction each; a wavefront of shared memory, four sectors from the L1, one sector from the L2, and one more
// turn of an atomic take a clock.
double Figures::cost() const {
    uint64_t issued = 0;
    for (uint64_t count : warp_instructions) issued += count;
    return static_cast<double>(issued + global_sectors) / 4 +
           static_cast<double>(shared_wavefronts + l2_sectors + atomic_serialized);
}

}  // namespace emu

using namespace emu;

// The figures of a launch of the report taken last. Returns 0 when it was not profiled.
EMU_HOST int emu_report_profile(uint32_t index, EmuProfile *out) {
    const LaunchRecord &launch = taken_launch(index);
    if (launch.figures.empty()) return 0;
    const LaunchFigures &it = launch.figures[0];
    *out = {&it.totals,
            it.dram_read_bytes,
            it.dram_write_bytes,
            it.barriers,
            it.critical_warp_instructions,
            it.critical_block_instructions,
            it.hottest_atomic_turns,
            it.hottest_float_atomic_turns,
            it.shared_atomic_turns,
            it.shared_increment_turns,
            it.polls,
            static_cast<uint32_t>(it.lines.size()),
            it.registers,
            it.static_shared_bytes,
            it.dynamic_shared_bytes,
            it.local_bytes};
    return 1;
}

EMU_HOST void emu_report_profile_line(uint32_t index, uint32_t line, EmuProfileLine *out) {
    const LineFigures &it = taken_launch(index).figures.at(0).lines.at(line);
    *out = {it.file.c_str(), &it.figures, it.line};
}
