#include "checks/lanes_apart.h"

#include <mutex>
#include <set>

namespace emu {

namespace {

std::mutex meeting_mutex;
std::set<std::string> meeting_kernels;

}  // namespace

void note_meeting_lanes(const std::string &kernel) {
    std::lock_guard lock(meeting_mutex);
    meeting_kernels.insert(kernel);
}

bool have_lanes_met(const std::string &kernel) {
    std::lock_guard lock(meeting_mutex);
    return meeting_kernels.contains(kernel);
}

uint32_t lanes_ahead(uint64_t seed, uint64_t block, uint32_t warp) {
    uint64_t mixed = (seed ^ (block << 5 | warp)) * 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9;
    auto lanes = static_cast<uint32_t>(mixed >> 32);
    return lanes == 0 || lanes == ~0u ? 0xffff : lanes;
}

}  // namespace emu
