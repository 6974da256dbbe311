#include "observe.h"

#include <atomic>

#include "block.h"
#include "profile.h"
#include "scheduler.h"

namespace emu {

namespace {

std::atomic<ObserveSettings> settings;

}  // namespace

void set_observe(const ObserveSettings &given) { settings = given; }

ObserveSettings observe_settings() { return settings; }

std::vector<std::unique_ptr<Observer>> make_observers(Launch &launch) {
    std::vector<std::unique_ptr<Observer>> observers;
    if (observe_settings().profile) observers.push_back(std::make_unique<Profile>(launch));
    return observers;
}

}  // namespace emu

extern "C" {

__attribute__((visibility("default"))) void emu_observe(WarpContext *warp, uint32_t site, uint32_t mask,
                                                        const uint64_t address[32]) {
    if (!mask) return;
    for (auto &observer : warp->block->observers) observer->access(*warp, site, mask, address);
}

__attribute__((visibility("default"))) void emu_observe_sync(WarpContext *warp, uint32_t mask) {
    if (!mask) return;
    for (auto &observer : warp->block->observers) observer->warp_sync(*warp, mask);
}
}
