#include "profile/counters.h"

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

#include "host.h"
#include "report/report.h"

namespace emu {

namespace {

// All of them are counts.
using Counts = std::array<uint64_t, sizeof(Counters) / sizeof(uint64_t)>;
static_assert(std::has_unique_object_representations_v<Counters> && sizeof(Counts) == sizeof(Counters));

template <class Combine>
void combine(Counters &into, const Counters &other, const Combine &both) {
    auto mine = std::bit_cast<Counts>(into);
    auto more = std::bit_cast<Counts>(other);
    for (size_t i = 0; i < mine.size(); ++i) mine[i] = both(mine[i], more[i]);
    into = std::bit_cast<Counters>(mine);
}

}  // namespace

void Counters::add(const Counters &other) {
    combine(*this, other, [](uint64_t mine, uint64_t more) { return mine + more; });
}

void Counters::raise(const Counters &other) {
    combine(*this, other, [](uint64_t mine, uint64_t more) { return std::max(mine, more); });
}

// Four schedulers issue an instruction each; a wavefront of shared memory, four sectors from the L1, one sector from
// the L2, and one more turn of an atomic take a clock.
double Counters::cost() const {
    uint64_t issued = 0;
    for (uint64_t count : warp_instructions) issued += count;
    return static_cast<double>(issued + global_sectors) / 4 +
           static_cast<double>(shared_wavefronts + l2_sectors + atomic_serialized);
}

}  // namespace emu

using namespace emu;

// The profile of a launch of the report taken last. Returns 0 when it was not profiled.
EMU_HOST int emu_report_profile(uint32_t index, EmuProfile *out) {
    const LaunchRecord &launch = taken_launch(index);
    if (launch.profiles.empty()) return 0;
    const LaunchProfile &it = launch.profiles[0];
    *out = {&it.totals, &it.busiest_block, &it.busiest_warp, &it, static_cast<uint32_t>(it.lines.size())};
    return 1;
}

EMU_HOST void emu_report_profile_line(uint32_t index, uint32_t line, EmuProfileLine *out) {
    const LineCounters &it = taken_launch(index).profiles.at(0).lines.at(line);
    *out = {it.file.c_str(), &it.counters, it.line};
}
