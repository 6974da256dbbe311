#include "checks/late_stores.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "exec/block.h"
#include "exec/memory.h"
#include "exec/scheduler.h"

namespace emu {

namespace {

// So many blocks may end before a store is done of one that ended before.
constexpr size_t blocks_behind = 2;
constexpr size_t max_late = 1 << 16;
constexpr uint64_t max_store_bytes = 32;

std::mutex racing_mutex;
std::set<std::pair<std::string, uint32_t>> racing;

class BlockStores : public BlockObserver {
public:
    BlockStores(LateStores &stores, const BlockContext &block)
        : stores_(stores), block_(block), kernel_(*block.launch.kernel) {}

    void start(uint64_t number) override {
        stores_.settle();
        number_ = number;
    }
    void finish() override {
        stores_.settle();
        stores_.end_block(number_);
    }
    void fence(const WarpContext &, bool of_device) override {
        stores_.settle();
        if (of_device) stores_.perform(number_);
    }
    void warp_sync(const WarpContext &, uint32_t) override { stores_.settle(); }
    void arrive(const WarpContext &, uint32_t, uint32_t, bool) override { stores_.settle(); }

    void access(const WarpContext &warp, uint32_t index, uint32_t lanes, const uint64_t *address) override {
        stores_.settle();
        const EmuSite &site = kernel_.sites[index];
        if (site.kind == EMU_NO_ACCESS || site.space == EMU_LOCAL || site.space == EMU_CONST || site.space == EMU_PARAM)
            return;
        if (site.order & EMU_RELEASE) stores_.perform(number_);
        bool late = can_be_late(site) && stores_.is_late(index);
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            uint64_t at = address[__builtin_ctz(rest)];
            stores_.perform(number_, at, site.size);
            if (!late || at % site.size || at - reinterpret_cast<uint64_t>(warp.shared) < warp.shared_bytes) continue;
            const Allocation *allocation = block_.launch.memory->find(at);
            if (allocation && at + site.size <= allocation->end) stores_.put_off(number_, at, site.size);
        }
    }

private:
    LateStores &stores_;
    const BlockContext &block_;
    const EmuKernel &kernel_;
    uint64_t number_ = 0;
};

void *place(uint64_t address) { return reinterpret_cast<void *>(address); }

}  // namespace

bool can_be_late(const EmuSite &site) {
    return site.kind == EMU_STORE || (site.kind == EMU_ATOMIC && site.order & EMU_BLOCK);
}

void note_racing_store(const std::string &kernel, uint32_t site) {
    std::lock_guard lock(racing_mutex);
    racing.emplace(kernel, site);
}

std::unique_ptr<LateStores> LateStores::of(const Launch &launch) {
    std::lock_guard lock(racing_mutex);
    std::vector<bool> sites(launch.kernel->site_count);
    bool any = false;
    for (const auto &[kernel, site] : racing) {
        if (kernel == launch.kernel->name && site < sites.size()) any = sites[site] = true;
    }
    return any ? std::make_unique<LateStores>(std::move(sites)) : nullptr;
}

std::unique_ptr<BlockObserver> LateStores::watch(BlockContext &block) {
    return std::make_unique<BlockStores>(*this, block);
}

void LateStores::put_off(uint64_t block, uint64_t address, uint32_t size) {
    if (count_ + fresh_.size() >= max_late) return;
    Fresh &fresh = fresh_.emplace_back(Fresh{block, address, {size, {}}});
    std::memcpy(fresh.before.of, place(address), size);
}

void LateStores::settle() {
    for (const Fresh &it : fresh_) {
        Bytes now{it.before.size, {}};
        std::memcpy(now.of, place(it.address), now.size);
        std::memcpy(place(it.address), it.before.of, now.size);
        // Another lane may have stored there by the same instruction: one value is as good as the other.
        count_ += late_[it.block].emplace(it.address, now).second;
    }
    fresh_.clear();
}

void LateStores::perform(uint64_t block, uint64_t address, uint32_t size) {
    auto of_block = late_.find(block);
    if (of_block == late_.end()) return;
    auto &stores = of_block->second;
    auto it = stores.lower_bound(address - std::min(address, max_store_bytes - 1));
    while (it != stores.end() && it->first < address + size) {
        if (it->first + it->second.size <= address) {
            ++it;
            continue;
        }
        std::memcpy(place(it->first), it->second.of, it->second.size);
        it = stores.erase(it);
        --count_;
    }
}

void LateStores::perform(uint64_t block) {
    auto of_block = late_.find(block);
    if (of_block == late_.end()) return;
    for (const auto &[address, bytes] : of_block->second) std::memcpy(place(address), bytes.of, bytes.size);
    count_ -= of_block->second.size();
    late_.erase(of_block);
}

void LateStores::end_block(uint64_t block) {
    ended_.push_back(block);
    for (; ended_.size() > blocks_behind; ended_.pop_front()) perform(ended_.front());
}

void LateStores::finish(Launch &) {
    settle();
    for (; !ended_.empty(); ended_.pop_front()) perform(ended_.front());
    while (!late_.empty()) perform(late_.begin()->first);
}

}  // namespace emu
