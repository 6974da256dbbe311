#include "checks/late_lanes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "exec/block.h"
#include "exec/memory.h"
#include "exec/scheduler.h"

namespace emu {

namespace {

constexpr uint64_t max_lane_bytes = 32;

std::mutex lanes_mutex;
std::set<std::pair<std::string, uint32_t>> read_by_lanes;

void *lane_bytes(uint64_t address) { return reinterpret_cast<void *>(address); }

class BlockLanes : public BlockObserver {
public:
    BlockLanes(const std::vector<bool> &sites, const BlockContext &block)
        : sites_(sites), block_(block), kernel_(*block.launch.kernel) {}

    void start(uint64_t) override {
        fresh_.clear();
        late_.clear();
    }
    void finish() override {
        settle();
        perform_if([](const Store &) { return true; });
    }
    void fence(const WarpContext &warp, bool) override { meet(warp, ~0u); }
    void warp_sync(const WarpContext &warp, uint32_t lanes) override { meet(warp, lanes); }
    void arrive(const WarpContext &warp, uint32_t, uint32_t, bool) override { meet(warp, ~0u); }
    void mbarrier_arrive(const WarpContext &warp, uint32_t, const uint64_t *) override { meet(warp, ~0u); }
    void mbarrier_pass(const WarpContext &warp, uint32_t, const uint64_t *) override { meet(warp, ~0u); }
    void warpgroup_wait(const WarpContext &warp, bool) override { meet(warp, ~0u); }
    void launch(const WarpContext &warp, uint32_t, LaunchPoint &) override { meet(warp, ~0u); }

    void access(const WarpContext &warp, uint32_t index, uint32_t lanes, const uint64_t *address) override {
        settle();
        const EmuSite &site = kernel_.sites[index];
        if (site.kind == EMU_NO_ACCESS || site.space == EMU_LOCAL || site.space == EMU_CONST || site.space == EMU_PARAM)
            return;
        if (site.order & EMU_RELEASE) meet(warp, ~0u);
        for (uint32_t rest = lanes; rest && !late_.empty(); rest &= rest - 1) {
            uint32_t lane = __builtin_ctz(rest);
            perform(address[lane], site.size, warp.warp_id * 32 + lane, site.kind == EMU_LOAD);
        }
        if (site.kind != EMU_STORE || site.order & EMU_LATER || !sites_[index]) return;
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            uint32_t lane = __builtin_ctz(rest);
            if (is_there(warp, address[lane], site.size)) put_off(warp.warp_id * 32 + lane, address[lane], site.size);
        }
    }

private:
    struct Store {
        uint32_t thread, size;
        uint8_t bytes[max_lane_bytes];
    };

    bool is_there(const WarpContext &warp, uint64_t at, uint32_t size) const {
        if (size > max_lane_bytes || at % size) return false;
        uint64_t offset = at - reinterpret_cast<uint64_t>(warp.shared);
        if (offset < warp.shared_bytes) return size <= warp.shared_bytes - offset;
        const Allocation *allocation = block_.launch.memory->find(at);
        return allocation && at + size <= allocation->end;
    }

    // The store is about to happen.
    void put_off(uint32_t thread, uint64_t address, uint32_t size) {
        Store before{thread, size, {}};
        std::memcpy(before.bytes, lane_bytes(address), size);
        fresh_.emplace_back(address, before);
    }

    // What was put off and has happened since is undone.
    void settle() {
        if (fresh_.empty()) return;
        for (const auto &[address, store] : fresh_) {
            Store now = store;
            std::memcpy(now.bytes, lane_bytes(address), now.size);
            // Another lane may have stored there by the same instruction: one value is as good as the other.
            late_.emplace(address, now);
        }
        for (const auto &[address, store] : fresh_) std::memcpy(lane_bytes(address), store.bytes, store.size);
        fresh_.clear();
    }

    // Does what was put off of these bytes, unless it is a lane's load of what another lane of its warp has stored.
    void perform(uint64_t address, uint32_t size, uint32_t thread, bool loads) {
        auto it = late_.lower_bound(address - std::min(address, max_lane_bytes - 1));
        while (it != late_.end() && it->first < address + size) {
            const Store &store = it->second;
            bool is_apart = it->first + store.size <= address;
            bool runs_ahead = loads && store.thread != thread && store.thread / 32 == thread / 32;
            if (is_apart || runs_ahead) {
                ++it;
                continue;
            }
            std::memcpy(lane_bytes(it->first), store.bytes, store.size);
            it = late_.erase(it);
        }
    }

    template <class Wanted>
    void perform_if(Wanted wanted) {
        for (auto it = late_.begin(); it != late_.end();) {
            if (!wanted(it->second)) {
                ++it;
                continue;
            }
            std::memcpy(lane_bytes(it->first), it->second.bytes, it->second.size);
            it = late_.erase(it);
        }
    }

    void meet(const WarpContext &warp, uint32_t lanes) {
        settle();
        perform_if(
            [&](const Store &store) { return store.thread / 32 == warp.warp_id && lanes >> store.thread % 32 & 1; });
    }

    const std::vector<bool> &sites_;
    const BlockContext &block_;
    const EmuKernel &kernel_;
    std::vector<std::pair<uint64_t, Store>> fresh_;  // about to happen, or happened just now
    std::map<uint64_t, Store> late_;                 // by address
};

}  // namespace

void note_store_read_by_lanes(const std::string &kernel, uint32_t site) {
    std::lock_guard lock(lanes_mutex);
    read_by_lanes.emplace(kernel, site);
}

std::unique_ptr<LateLanes> LateLanes::of(const Launch &launch) {
    std::lock_guard lock(lanes_mutex);
    std::vector<bool> sites(launch.kernel->site_count);
    bool any = false;
    for (const auto &[kernel, site] : read_by_lanes) {
        if (kernel == launch.kernel->name && site < sites.size()) any = sites[site] = true;
    }
    return any ? std::make_unique<LateLanes>(std::move(sites)) : nullptr;
}

std::unique_ptr<BlockObserver> LateLanes::watch(BlockContext &block) {
    return std::make_unique<BlockLanes>(sites_, block);
}

}  // namespace emu
