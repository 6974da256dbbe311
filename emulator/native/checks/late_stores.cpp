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

std::mutex mutex;
std::set<std::pair<std::string, uint32_t>> racing;

class BlockStores : public BlockObserver {
  public:
    BlockStores(LateStores &stores, const BlockContext &block) : stores_(stores), block_(block), kernel_(*block.launch.kernel) {}

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
        if (of_device) stores_.do_all(number_);
    }
    void warp_sync(const WarpContext &, uint32_t) override { stores_.settle(); }
    void arrive(const WarpContext &, uint32_t, uint32_t, bool) override { stores_.settle(); }

    void access(const WarpContext &warp, uint32_t index, uint32_t lanes, const uint64_t *address) override {
        stores_.settle();
        const EmuSite &site = kernel_.sites[index];
        if (site.kind == EMU_NO_ACCESS || site.space == EMU_LOCAL || site.space == EMU_CONST || site.space == EMU_PARAM) return;
        if (site.order & EMU_RELEASE) stores_.do_all(number_);
        bool late = site.kind == EMU_STORE && stores_.is_late(index);
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            uint64_t at = address[__builtin_ctz(rest)];
            stores_.do_all(number_, at, site.size);
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

}  // namespace

void note_racing_store(const std::string &kernel, uint32_t site) {
    std::lock_guard lock(mutex);
    racing.emplace(kernel, site);
}

std::unique_ptr<LateStores> LateStores::of(const Launch &launch) {
    std::lock_guard lock(mutex);
    std::vector<bool> sites(launch.kernel->site_count);
    bool any = false;
    for (auto it = racing.lower_bound({launch.kernel->name, 0}); it != racing.end() && it->first == launch.kernel->name; ++it) {
        if (it->second < sites.size()) any = sites[it->second] = true;
    }
    return any ? std::make_unique<LateStores>(std::move(sites)) : nullptr;
}

std::unique_ptr<BlockObserver> LateStores::watch(BlockContext &block) { return std::make_unique<BlockStores>(*this, block); }

void LateStores::put_off(uint64_t block, uint64_t address, uint32_t size) {
    Store &store = stores_.emplace_back();
    store = {block, address, size, false, {}};
    std::memcpy(store.bytes, reinterpret_cast<const void *>(address), size);
}

void LateStores::settle() {
    // Of several lanes that stored to one place the last has the last word; what was there before is the same for all.
    for (; settled_ < stores_.size(); ++settled_) {
        Store &store = stores_[settled_];
        uint8_t now[32];
        std::memcpy(now, reinterpret_cast<const void *>(store.address), store.size);
        std::memcpy(reinterpret_cast<void *>(store.address), store.bytes, store.size);
        bool is_first = std::none_of(stores_.begin(), stores_.begin() + static_cast<long>(settled_), [&](const Store &other) {
            return other.block == store.block && other.address == store.address;
        });
        // A further lane finds what the first has undone already.
        if (is_first) std::memcpy(store.bytes, now, store.size);
        else store.size = 0;
        store.is_undone = true;
    }
}

void LateStores::perform(const Store &store) const {
    if (store.size) std::memcpy(reinterpret_cast<void *>(store.address), store.bytes, store.size);
}

void LateStores::do_all(uint64_t block, uint64_t address, uint32_t size) {
    if (stores_.empty()) return;
    auto is_due = [&](const Store &store) {
        bool due = store.is_undone && store.block == block && (!size || (store.address < address + size && address < store.address + store.size));
        if (due) perform(store);
        return due;
    };
    stores_.erase(std::remove_if(stores_.begin(), stores_.end(), is_due), stores_.end());
    settled_ = static_cast<size_t>(std::count_if(stores_.begin(), stores_.end(), [](const Store &store) { return store.is_undone; }));
}

void LateStores::end_block(uint64_t block) {
    ended_.push_back(block);
    for (; ended_.size() > blocks_behind; ended_.pop_front()) do_all(ended_.front());
}

void LateStores::finish(Launch &) {
    settle();
    for (const Store &store : stores_) perform(store);
    stores_.clear();
}

}  // namespace emu
