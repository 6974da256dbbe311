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

constexpr size_t max_late = 1 << 16, max_late_of_line = 1 << 6;
// So much is made ready for what comes next, where stores of blocks that have ended take it.
constexpr size_t room = 32;
// So many reads find what was there before, if each is by another warp or by a weak access.
constexpr uint32_t max_stale_reads = 1 << 8;

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

    void allocate(uint64_t address, uint64_t size) override {
        stores_.settle();
        stores_.perform_of_all(address, size);
    }

    void access(const WarpContext &warp, uint32_t index, uint32_t lanes, const uint64_t *address) override {
        stores_.settle();
        const EmuSite &site = kernel_.sites[index];
        if (site.kind == EMU_NO_ACCESS || site.space == EMU_LOCAL || site.space == EMU_CONST || site.space == EMU_PARAM)
            return;
        bool late = can_be_late(site) && stores_.is_late(index) && !(site.order & EMU_RELEASE);
        bool reads = site.kind != EMU_STORE, strong = site.order & EMU_STRONG;
        uint64_t last = 0;
        if (site.order & EMU_RELEASE) stores_.perform(number_);
        // What is done here is done before any of the lanes' stores are put off: they are undone to what is there then.
        each_lane(warp, lanes, address, [&](uint64_t at) {
            if (is_fenced_) stores_.perform(number_);
            is_fenced_ = false;
            stores_.perform(number_, at, site.size);
            if (reads && at != last) stores_.poll(number_, warp.warp_id, at, site.size, strong);
            last = at;
        });
        if (!late) return;
        each_lane(warp, lanes, address, [&](uint64_t at) {
            const Allocation *allocation = at % site.size ? nullptr : block_.launch.memory->find(at);
            if (allocation && at + site.size <= allocation->end) stores_.put_off(number_, at, site);
        });
    }

private:
    // The lanes that access global memory.
    template <class Visit>
    static void each_lane(const WarpContext &warp, uint32_t lanes, const uint64_t *address, Visit visit) {
        for (; lanes; lanes &= lanes - 1) {
            uint64_t at = address[__builtin_ctz(lanes)];
            if (at - reinterpret_cast<uint64_t>(warp.shared) >= warp.shared_bytes) visit(at);
        }
    }

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
    Late &fresh = fresh_.emplace_back(Late{block, address, &site, {}});
    std::memcpy(fresh.of, place(address), site.size);
}

void LateStores::settle() {
    if (fresh_.empty()) return;
    for (Late &it : fresh_) {
        uint8_t now[line_bytes];
        std::memcpy(now, place(it.address), it.site->size);
        std::memcpy(place(it.address), it.of, it.site->size);
        if (adds(*it.site)) add(*it.site, now, it.of, true);
        std::memcpy(it.of, now, it.site->size);
        keep(it);
    }
    for (const Late &it : fresh_) {
        const Line &line = lines_[it.address / line_bytes];
        const Late *oldest = line.size() > max_late_of_line ? line.data() : nullptr;
        if (oldest) perform_in(it.address / line_bytes, [oldest](const Late &late) { return &late == oldest; });
    }
    fresh_.clear();
    for (; count_ + room > max_late && !ended_.empty(); ended_.pop_front()) perform(ended_.front());
}

void LateStores::keep(const Late &late) {
    uint64_t number = late.address / line_bytes;
    Line &line = lines_[number];
    // Another lane may have stored there by the same instruction: one value is as good as the other, and a sum has
    // what all of them add.
    for (const Late &other : line) {
        if (other.block == late.block && other.address == late.address) return;
    }
    line.push_back(late);
    ++count_;
    lines_of_[late.block].insert(number);
}

template <class Wanted>
void LateStores::perform_in(uint64_t number, Wanted wanted) {
    auto found = lines_.find(number);
    if (found == lines_.end()) return;
    Line &line = found->second;
    size_t kept = 0;
    std::vector<uint64_t> done;
    for (Late &it : line) {
        if (!wanted(it)) {
            line[kept++] = it;
            continue;
        }
        if (adds(*it.site))
            add(*it.site, place(it.address), it.of, false);
        else
            std::memcpy(place(it.address), it.of, it.site->size);
        done.push_back(it.block);
    }
    if (done.empty()) return;
    count_ -= done.size();
    line.resize(kept);
    for (uint64_t block : done) {
        bool has_more = std::any_of(line.begin(), line.end(), [block](const Late &it) { return it.block == block; });
        auto of_block = lines_of_.find(block);
        if (has_more || of_block == lines_of_.end()) continue;
        of_block->second.erase(number);
        if (of_block->second.empty()) lines_of_.erase(of_block);
    }
    if (!kept) lines_.erase(found);
}

template <class Wanted>
void LateStores::perform_if(uint64_t address, uint64_t size, Wanted wanted) {
    for (uint64_t line = address / line_bytes; count_ && line <= (address + size - 1) / line_bytes; ++line) {
        perform_in(line, [&](Late &it) {
            return it.address < address + size && address < it.address + it.site->size && wanted(it);
        });
    }
}

void LateStores::perform(uint64_t block, uint64_t address, uint32_t size) {
    perform_if(address, size, [block](const Late &it) { return it.block == block; });
}

void LateStores::perform_of_all(uint64_t address, uint64_t size) {
    perform_if(address, size, [](const Late &) { return true; });
}

void LateStores::poll(uint64_t block, uint32_t warp, uint64_t address, uint32_t size, bool strong) {
    uint64_t reader = block << 6 | (warp + 1);
    perform_if(address, size, [&](Late &late) {
        if (late.block == block) return false;
        bool again = (strong && late.first_reader == reader) || late.reads >= max_stale_reads;
        if (strong && !late.first_reader) late.first_reader = reader;
        ++late.reads;
        return again;
    });
}

void LateStores::perform(uint64_t block) {
    auto found = lines_of_.find(block);
    if (found == lines_of_.end()) return;
    std::unordered_set<uint64_t> lines = std::move(found->second);
    lines_of_.erase(found);
    for (uint64_t line : lines) perform_in(line, [block](const Late &it) { return it.block == block; });
}

void LateStores::end_block(uint64_t block) {
    if (lines_of_.contains(block)) ended_.push_back(block);
}

void LateStores::finish(Launch &) {
    settle();
    for (; !ended_.empty(); ended_.pop_front()) perform(ended_.front());
    while (!lines_of_.empty()) perform(lines_of_.begin()->first);
}

}  // namespace emu
