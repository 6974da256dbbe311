#include "exec/observe.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "checks/heap_uses.h"
#include "checks/initcheck.h"
#include "checks/lanes_apart.h"
#include "checks/late_stores.h"
#include "checks/racecheck.h"
#include "checks/shared_extents.h"
#include "exec/block.h"
#include "exec/memory.h"
#include "exec/scheduler.h"
#include "profile/profile.h"

namespace emu {

namespace {

std::atomic<ObserveSettings> settings;

}  // namespace

void set_observe(const ObserveSettings &given) {
    settings = given;
    if (!given.check_full) memory().forget_writes();  // nobody sees what is written from now on
}

ObserveSettings observe_settings() { return settings; }

std::vector<std::unique_ptr<Observer>> make_observers(Launch &launch) {
    std::vector<std::unique_ptr<Observer>> observers;
    if (observe_settings().profile) observers.push_back(std::make_unique<Profile>(launch));
    if (observe_settings().check_full) {
        observers.push_back(std::make_unique<InitCheck>(launch));
        observers.push_back(std::make_unique<RaceCheck>(launch));
        observers.push_back(std::make_unique<SharedExtents>(launch));
        observers.push_back(std::make_unique<HeapUses>());
        // The last, since the others look at what is stored, which it undoes.
        if (launch.runs_ahead) {
            if (std::unique_ptr<Observer> late = LateStores::of(launch)) observers.push_back(std::move(late));
            launch.lanes_apart = have_lanes_met(launch.kernel->name);
        }
    }
    return observers;
}

void BlockObserver::bulk(const WarpContext &warp, uint32_t, const BulkAccess &it) {
    if (it.stage == BulkStage::shared_write_ends) return;
    uint32_t width = warp.kernel->sites[it.site].size;
    for (uint32_t begin = 0; begin < it.size; begin += 32 * width) {
        uint64_t address[32];
        uint32_t lanes = 0;
        for (uint32_t l = 0; l < 32 && begin + l * width < it.size; ++l) {
            address[l] = it.address + begin + l * width;
            lanes |= 1u << l;
        }
        access(warp, it.site, lanes, address);
    }
}

bool StoredValues::differ(uint32_t lane, uint32_t other) const {
    for (uint32_t n = 0; n < count; ++n) {
        const uint8_t *element = values + size_t{n} * 32 * width;
        if (std::memcmp(element + size_t{lane} * width, element + size_t{other} * width, size) != 0) return true;
    }
    return false;
}

bool has_changed(uint32_t lanes, const uint64_t *address, const void *before, uint32_t size) {
    auto *old = static_cast<const uint8_t *>(before);
    bool is_same = true;
    for (; is_same && lanes; lanes &= lanes - 1) {
        uint32_t lane = static_cast<uint32_t>(__builtin_ctz(lanes));
        is_same = std::memcmp(reinterpret_cast<const void *>(address[lane]), old + size_t{lane} * size, size) == 0;
    }
    return !is_same;
}

void observe_change(const WarpContext &warp) {
    for (auto &observer : warp.block->observers) observer->change(warp);
}

}  // namespace emu

extern "C" {

__attribute__((visibility("default"))) void emu_observe(WarpContext *warp, uint32_t site, uint32_t mask,
                                                        const uint64_t address[32]) {
    if (!mask) return;
    for (auto &observer : warp->block->observers) observer->access(*warp, site, mask, address);
}

__attribute__((visibility("default"))) void emu_observe_load(WarpContext *warp, uint32_t site, uint32_t mask,
                                                             const uint64_t address[32], uint32_t *unwritten) {
    const EmuSite &it = warp->kernel->sites[site];
    std::fill_n(unwritten, it.size / it.element_size, 0);
    warp->unwritten = unwritten;
    emu_observe(warp, site, mask, address);
    warp->unwritten = nullptr;
}

__attribute__((visibility("default"))) void emu_observe_use(WarpContext *warp, uint32_t mask,
                                                            const uint16_t origin[32]) {
    for (auto &observer : warp->block->observers) observer->use(*warp, mask, origin);
}

__attribute__((visibility("default"))) void emu_observe_pass(WarpContext *warp, uint32_t mask,
                                                             const uint16_t origin[32], const uint64_t address[32],
                                                             uint32_t offset, uint32_t size) {
    uint64_t moved[32];
    std::transform(address, address + 32, moved, [offset](uint64_t at) { return at + offset; });
    for (auto &observer : warp->block->observers) observer->pass(*warp, mask, origin, moved, size);
}

__attribute__((visibility("default"))) void emu_observe_store(WarpContext *warp, uint32_t site, uint32_t mask,
                                                              const uint64_t address[32], const uint8_t *values,
                                                              uint32_t count, uint32_t width) {
    emu::StoredValues stored{values, count, width, warp->kernel->sites[site].size / count};
    for (auto &observer : warp->block->observers) observer->store(*warp, site, mask, address, stored);
}

__attribute__((visibility("default"))) void emu_observe_sync(WarpContext *warp, uint32_t lanes, const uint32_t *masks) {
    for (uint32_t rest = lanes; rest;) {
        uint32_t together = rest;
        if (masks) {
            uint32_t mask = masks[__builtin_ctz(rest)];
            together = 0;
            for (uint32_t l = 0; l < 32; ++l) together |= uint32_t{rest >> l & 1 && masks[l] == mask} << l;
            rest &= ~together;
            together &= mask;
        } else {
            rest = 0;
        }
        if (!together) continue;
        for (auto &observer : warp->block->observers) observer->warp_sync(*warp, together);
    }
}

__attribute__((visibility("default"))) void emu_observe_map_fence(WarpContext *warp, uint32_t lanes,
                                                                  const uint64_t *maps) {
    for (auto &observer : warp->block->observers) observer->fence_maps(*warp, lanes, maps);
}

__attribute__((visibility("default"))) void emu_observe_async_fence(WarpContext *warp) {
    for (auto &observer : warp->block->observers) observer->fence_async(*warp);
}

__attribute__((visibility("default"))) void emu_observe_fence(WarpContext *warp, uint32_t scope) {
    if (scope == 2) warp->block->launch.meets_host = true;
    for (auto &observer : warp->block->observers) observer->fence(*warp, scope != 0);
}
}
