#include "checks/initcheck.h"

#include <unordered_map>

#include "checks/faults.h"
#include "checks/written_bytes.h"
#include "exec/block.h"
#include "exec/memory.h"
#include "exec/scheduler.h"

namespace emu {

namespace {

// Blocks with more local memory are checked without it.
constexpr uint64_t max_local_bytes = 4 << 20;

class BlockInit : public BlockObserver {
    using Where = InitCheck::Where;

public:
    BlockInit(InitCheck &check, const BlockContext &block)
        : check_(check),
          memory_(*block.launch.memory),
          kernel_(*block.launch.kernel),
          shared_(block.warp(0).shared_bytes),
          is_in_cluster_(block.launch.cluster_size() > 1),
          window_(reinterpret_cast<uint64_t>(block.warp(0).shared)),
          window_bytes_(block.warp(0).shared_bytes),
          warp_local_bytes_(uint64_t{kernel_.local_bytes} * 32),
          has_local_(warp_local_bytes_ && warp_local_bytes_ * block.warp_count() <= max_local_bytes),
          local_(has_local_ ? warp_local_bytes_ * block.warp_count() : 0) {}

    void start(uint64_t) override {
        shared_.clear();
        kept_.clear();
        stored_.clear();
        if (has_local_) local_.clear();
        if (kernel_.reserved_shared_bytes) shared_.mark(0, kernel_.reserved_shared_bytes);
    }

    void access(const WarpContext &warp, uint32_t index, uint32_t lanes, const uint64_t *address) override {
        const EmuSite &site = kernel_.sites[index];
        if (site.kind == EMU_NO_ACCESS || site.space == EMU_CONST || site.space == EMU_PARAM) return;
        bool reads = site.kind == EMU_LOAD || (site.kind == EMU_ATOMIC && !(site.order & EMU_BLIND));
        uint64_t shared = reinterpret_cast<uint64_t>(warp.shared), local = reinterpret_cast<uint64_t>(warp.local);
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            uint32_t lane = __builtin_ctz(rest);
            uint64_t at = address[lane], offset = at - shared;
            if (offset < warp.shared_bytes) {
                if (site.size <= warp.shared_bytes - offset)
                    check(shared_, offset, reads, warp, index, lane, at, Where::shared);
                continue;
            }
            if (at - local < warp_local_bytes_) {
                bool fits = site.size <= warp_local_bytes_ - (at - local);
                if (has_local_ && fits)
                    check(local_, warp.warp_id * warp_local_bytes_ + (at - local), reads, warp, index, lane, at,
                          Where::local);
                continue;
            }
            if (BlockContext *other = is_in_cluster_ ? warp.block->cluster().owner(at) : nullptr) {
                if (site.kind == EMU_LOAD) continue;
                for (auto &observer : other->observers) observer->written_from_outside(at, site.size);
                continue;
            }
            if (!recent_ || at - recent_->begin >= recent_->size()) recent_ = memory_.find(at);
            if (!recent_ || !recent_->written || site.size > recent_->end - at) continue;
            check(*recent_->written, at - recent_->begin, reads, warp, index, lane, at, Where::global);
        }
    }

    void use(const WarpContext &warp, uint32_t lanes, const uint16_t *origin) override {
        for (; lanes; lanes &= lanes - 1) {
            uint32_t lane = __builtin_ctz(lanes), index = origin[lane] - 1u;
            Read *read = read_of(warp, lane, index);
            if (!read || read->is_told) continue;
            tell(*read);
            read->is_told = true;
        }
    }

    void pass(const WarpContext &warp, uint32_t lanes, const uint16_t *origin, const uint64_t *address,
              uint32_t size) override {
        for (; lanes; lanes &= lanes - 1) {
            uint32_t lane = __builtin_ctz(lanes);
            uint64_t offset = address[lane] - window_;
            const Read *read = read_of(warp, lane, origin[lane] - 1u);
            if (!read || offset >= window_bytes_ || size > window_bytes_ - offset) continue;
            shared_.unmark(offset, size);
            for (uint32_t i = 0; i < size; i += 4) stored_[(offset + i) / 4] = *read;
        }
    }

    void written_from_outside(uint64_t address, uint32_t size) override {
        uint64_t offset = address - window_;
        if (offset < window_bytes_ && size <= window_bytes_ - offset) shared_.mark(offset, size);
    }

private:
    // A load of what nobody has written, by a lane of `warp`.
    struct Read {
        const WarpContext *warp;
        uint32_t site, lane;
        uint64_t address, unwritten;
        Where where;
        bool is_told = false;
    };

    void tell(const Read &read) {
        check_.report_read(*read.warp, read.site, read.lane, read.address, read.unwritten, read.where);
    }

    // What the lane got from the load at this site, or, by a shuffle, another lane of its warp; null: nothing.
    Read *read_of(const WarpContext &warp, uint32_t lane, uint32_t site) {
        for (uint32_t n = 0; n < 32; ++n) {
            auto it = kept_.find({warp.warp_id * 32 + (lane + n) % 32, site});
            if (it != kept_.end()) return &it->second;
        }
        return nullptr;
    }

    void check(WrittenBytes &written, uint64_t offset, bool reads, const WarpContext &warp, uint32_t index,
               uint32_t lane, uint64_t at, Where where) {
        const EmuSite &site = kernel_.sites[index];
        if (reads && !written.has(offset, site.size)) {
            // What is copied, or one number, and written in part is a structure with padding between its members, as a
            // rule.
            bool is_kept = false, in_part = !written.has_none(offset, site.size);
            for (uint32_t i = 0; i < site.size; i += site.element_size) {
                if (!written.has_none(offset + i, site.element_size)) continue;
                if (in_part && site.copied >> i / site.element_size & 1) continue;
                Read read{&warp, index, lane, at, at + i, where};
                if (auto it = stored_.find((offset + i) / 4); where == Where::shared && it != stored_.end())
                    read = it->second;
                if (!warp.unwritten) {
                    tell(read);
                    break;
                }
                if (!is_kept) kept_[{warp.warp_id * 32 + lane, index}] = read;
                is_kept = true;
                warp.unwritten[i / site.element_size] |= 1u << lane;
            }
        }
        if (site.kind != EMU_LOAD) written.mark(offset, site.size);
    }

    InitCheck &check_;
    std::map<std::pair<uint32_t, uint32_t>, Read> kept_;  // by thread and site
    std::unordered_map<uint64_t, Read> stored_;  // by word of shared memory: what was stored there all the same
    const MemoryView &memory_;
    const EmuKernel &kernel_;
    WrittenBytes shared_;
    const bool is_in_cluster_;
    const uint64_t window_, window_bytes_;
    const uint64_t warp_local_bytes_;
    const bool has_local_;
    WrittenBytes local_;
    const Allocation *recent_ = nullptr;
};

}  // namespace

std::unique_ptr<BlockObserver> InitCheck::watch(BlockContext &block) {
    return std::make_unique<BlockInit>(*this, block);
}

void InitCheck::report_read(const WarpContext &warp, uint32_t index, uint32_t lane, uint64_t address,
                            uint64_t unwritten, Where space) {
    auto [entry, fresh] = first_reads_.try_emplace({index, space});
    Fault &fault = entry->second;
    if (!fresh) {
        ++fault.count;
        return;
    }
    bool is_shared = space == Where::shared, is_local = space == Where::local;
    Location meant = is_shared  ? shared_location(warp, unwritten)
                     : is_local ? Location{"this element of a local array", ""}
                                : global_location(launch_, unwritten);
    fault = fault_at({&warp, &warp.kernel->sites[index], lane, address});
    fault.is_write = false;
    fault.kind = is_shared ? "uninitialized shared read" : is_local ? "uninitialized local read" : "uninitialized read";
    fault.allocation = meant.name;
    fault.message =
        fault.kind + " of " + bytes(fault.size) + " at " + where(fault) + ": nothing has written " + meant.text;
    report().add_fault(fault);
}

void InitCheck::finish(Launch &) {
    for (auto &[site, fault] : first_reads_) {
        report().count_faults(fault.count);
        if (--fault.count) report().add_fault(std::move(fault));
    }
}

}  // namespace emu
