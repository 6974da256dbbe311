#include "checks/late_stores.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>
#include <set>
#include <utility>

#include "exec/block.h"
#include "exec/memory.h"
#include "exec/scheduler.h"

namespace emu {

namespace {

// So many blocks may end before a store is done of one that ended before.
constexpr size_t blocks_behind = 16;
constexpr size_t max_late = 1 << 16;
constexpr uint64_t max_store_bytes = 32;
// So many strong reads find what was there before, if each is by another warp.
constexpr uint32_t max_stale_reads = 1 << 10;

std::mutex racing_mutex;
std::set<std::pair<std::string, uint32_t>> racing;

class BlockStores : public BlockObserver {
public:
    BlockStores(LateStores &stores, const BlockContext &block)
        : stores_(stores), block_(block), kernel_(*block.launch.kernel) {}

    void start(uint64_t number) override {
        stores_.settle();
        number_ = number;
        is_fenced_ = false;
    }
    void finish() override {
        stores_.settle();
        stores_.end_block(number_);
    }
    void fence(const WarpContext &, bool of_device) override {
        stores_.settle();
        is_fenced_ |= of_device;
    }
    void warp_sync(const WarpContext &, uint32_t) override { stores_.settle(); }
    void arrive(const WarpContext &, uint32_t barrier, uint32_t, bool) override {
        stores_.settle();
        if (barrier == BlockContext::cluster_barrier) stores_.perform(number_);
    }

    void access(const WarpContext &warp, uint32_t index, uint32_t lanes, const uint64_t *address) override {
        stores_.settle();
        const EmuSite &site = kernel_.sites[index];
        if (site.kind == EMU_NO_ACCESS || site.space == EMU_LOCAL || site.space == EMU_CONST || site.space == EMU_PARAM)
            return;
        bool late = can_be_late(site) && stores_.is_late(index) && !(site.order & EMU_RELEASE);
        bool polls = site.order & EMU_STRONG && site.kind != EMU_STORE;
        uint64_t last = 0;
        if (site.order & EMU_RELEASE) stores_.perform(number_);
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            uint64_t at = address[__builtin_ctz(rest)];
            if (at - reinterpret_cast<uint64_t>(warp.shared) < warp.shared_bytes) continue;
            if (is_fenced_) stores_.perform(number_);
            is_fenced_ = false;
            stores_.perform(number_, at, site.size);
            if (polls && at != last) stores_.poll(number_, warp.warp_id, at, site.size);
            last = at;
            if (!late || at % site.size) continue;
            const Allocation *allocation = block_.launch.memory->find(at);
            if (allocation && at + site.size <= allocation->end) stores_.put_off(number_, at, site);
        }
    }

private:
    LateStores &stores_;
    const BlockContext &block_;
    const EmuKernel &kernel_;
    uint64_t number_ = 0;
    bool is_fenced_ = false;  // by a fence behind which nothing has touched global memory yet
};

void *place(uint64_t address) { return reinterpret_cast<void *>(address); }

bool adds(const EmuSite &site) {
    return site.kind == EMU_ATOMIC && site.atomic_form & EMU_ADDS && !(site.order & EMU_BLOCK);
}

template <class Number>
void combine(void *into, const void *with, bool subtract) {
    Number one, other;
    std::memcpy(&one, into, sizeof one);
    std::memcpy(&other, with, sizeof other);
    one = static_cast<Number>(subtract ? one - other : one + other);
    std::memcpy(into, &one, sizeof one);
}

// Adds the number at `with`, or takes it away.
void add(const EmuSite &site, void *into, const void *with, bool subtract) {
    bool is_float = site.atomic_form & EMU_FLOAT;
    if (site.size == 4)
        is_float ? combine<float>(into, with, subtract) : combine<uint32_t>(into, with, subtract);
    else
        is_float ? combine<double>(into, with, subtract) : combine<uint64_t>(into, with, subtract);
}

}  // namespace

bool can_be_late(const EmuSite &site) {
    if (site.kind != EMU_ATOMIC) return site.kind == EMU_STORE;
    bool is_known = site.order & EMU_BLIND || site.atomic_form & EMU_ADDS;
    return site.order & EMU_BLOCK || (is_known && !(site.atomic_form & EMU_AWAITED));
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

void LateStores::put_off(uint64_t block, uint64_t address, const EmuSite &site) {
    if (count_ + fresh_.size() >= max_late) return;
    Fresh &fresh = fresh_.emplace_back(Fresh{block, address, {&site, {}}});
    std::memcpy(fresh.before.of, place(address), site.size);
}

void LateStores::settle() {
    for (const Fresh &it : fresh_) {
        const EmuSite &site = *it.before.site;
        Bytes now{&site, {}};
        std::memcpy(now.of, place(it.address), site.size);
        std::memcpy(place(it.address), it.before.of, site.size);
        if (adds(site)) add(site, now.of, it.before.of, true);
        // Another lane may have stored there by the same instruction: one value is as good as the other, and a sum has
        // what all of them add.
        count_ += late_[it.block].emplace(it.address, now).second;
    }
    fresh_.clear();
}

LateStores::Stores::iterator LateStores::perform(Stores &stores, Stores::iterator it) {
    const auto &[address, bytes] = *it;
    if (adds(*bytes.site))
        add(*bytes.site, place(address), bytes.of, false);
    else
        std::memcpy(place(address), bytes.of, bytes.site->size);
    --count_;
    return stores.erase(it);
}

template <class Wanted>
void LateStores::perform_if(Stores &stores, uint64_t address, uint32_t size, Wanted wanted) {
    auto it = stores.lower_bound(address - std::min(address, max_store_bytes - 1));
    while (it != stores.end() && it->first < address + size) {
        bool is_apart = it->first + it->second.site->size <= address;
        it = is_apart || !wanted(it->second) ? std::next(it) : perform(stores, it);
    }
}

void LateStores::perform(uint64_t block, uint64_t address, uint32_t size) {
    auto of_block = late_.find(block);
    if (of_block != late_.end()) perform_if(of_block->second, address, size, [](const Bytes &) { return true; });
}

void LateStores::poll(uint64_t block, uint32_t warp, uint64_t address, uint32_t size) {
    uint64_t reader = block << 6 | (warp + 1);
    for (auto &[owner, stores] : late_) {
        if (owner == block) continue;
        perform_if(stores, address, size, [&](Bytes &late) {
            bool again = late.first_reader == reader || late.reads >= max_stale_reads;
            if (!late.first_reader) late.first_reader = reader;
            ++late.reads;
            return again;
        });
    }
}

void LateStores::perform(uint64_t block) {
    auto of_block = late_.find(block);
    if (of_block == late_.end()) return;
    Stores &stores = of_block->second;
    for (auto it = stores.begin(); it != stores.end();) it = perform(stores, it);
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
