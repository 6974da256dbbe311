#include "figures.h"

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

#include "host.h"
#include "report.h"

namespace emu {

namespace {

// All of them are counts.
using Counts = std::array<uint64_t, sizeof(Figures) / sizeof(uint64_t)>;
static_assert(std::has_unique_object_representations_v<Figures> && sizeof(Counts) == sizeof(Figures));

template <class Combine>
void combine(Figures &into, const Figures &other, const Combine &both) {
    auto mine = std::bit_cast<Counts>(into);
    auto more = std::bit_cast<Counts>(other);
    for (size_t i = 0; i < mine.size(); ++i) mine[i] = both(mine[i], more[i]);
    into = std::bit_cast<Figures>(mine);
}

}  // namespace

void Figures::add(const Figures &other) {
    combine(*this, other, [](uint64_t mine, uint64_t more) { return mine + more; });
}

void Figures::raise(const Figures &other) {
    combine(*this, other, [](uint64_t mine, uint64_t more) { return std::max(mine, more); });
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
            &it.busiest_block,
            &it.busiest_warp,
            it.dram_read_bytes,
            it.dram_write_bytes,
            it.barriers,
            it.critical_warp_instructions,
            it.critical_warp_barriers,
            it.busy_blocks,
            it.dram_loads,
            it.critical_warp_dram_loads,
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
