#include "checks/shared_extents.h"

#include <map>
#include <string>
#include <tuple>

#include "checks/faults.h"
#include "exec/block.h"
#include "exec/scheduler.h"
#include "report/report.h"
#include "report/symbol_names.h"

namespace emu {

namespace {

class BlockReaches : public BlockObserver {
public:
    BlockReaches(std::vector<SharedExtents::Reach> &reaches, const EmuKernel &kernel)
        : reaches_(reaches), kernel_(kernel) {}

    void start(uint64_t number) override { number_ = number; }

    void access(const WarpContext &warp, uint32_t index, uint32_t lanes, const uint64_t *address) override {
        const EmuSite &site = kernel_.sites[index];
        if (site.kind == EMU_NO_ACCESS || !site.line || (site.space != EMU_SHARED && site.space != EMU_GENERIC)) return;
        SharedExtents::Reach &reach = reaches_[index];
        uint64_t shared = reinterpret_cast<uint64_t>(warp.shared);
        for (; lanes; lanes &= lanes - 1) {
            uint32_t lane = __builtin_ctz(lanes), thread = warp.warp_id * 32 + lane;
            uint64_t offset = address[lane] - shared;
            if (offset >= warp.shared_bytes) continue;
            if (offset < reach.begin) reach.begin = offset, reach.first_thread = thread, reach.first_block = number_;
            uint64_t end = offset + site.size;
            if (end > reach.end) reach.end = end, reach.last_thread = thread, reach.last_block = number_;
        }
    }

private:
    std::vector<SharedExtents::Reach> &reaches_;
    const EmuKernel &kernel_;
    uint64_t number_ = 0;
};

}  // namespace

void SharedExtents::Reach::add(const Reach &other) {
    if (other.begin < begin) begin = other.begin, first_thread = other.first_thread, first_block = other.first_block;
    if (other.end > end) end = other.end, last_thread = other.last_thread, last_block = other.last_block;
}

SharedExtents::SharedExtents(Launch &launch) : reaches_(launch.kernel->site_count) {}

std::unique_ptr<BlockObserver> SharedExtents::watch(BlockContext &block) {
    return std::make_unique<BlockReaches>(reaches_, *block.launch.kernel);
}

void SharedExtents::finish(Launch &launch) {
    const EmuKernel &kernel = *launch.kernel;
    std::map<std::tuple<std::string, uint32_t, bool>, Reach> lines;  // by file, line, and whether it writes
    for (uint32_t i = 0; i < kernel.site_count; ++i) {
        if (!reaches_[i].end) continue;
        const EmuSite &site = kernel.sites[i];
        if (site.kind != EMU_STORE) lines[{site.file, site.line, false}].add(reaches_[i]);
        if (site.kind != EMU_LOAD) lines[{site.file, site.line, true}].add(reaches_[i]);
    }
    std::vector<SharedExtent> extents;
    for (const auto &[place, reach] : lines) {
        SharedExtent extent;
        extent.kernel = readable_name(kernel.name);
        std::tie(extent.file, extent.line, extent.is_write) = place;
        extent.begin = reach.begin;
        extent.end = reach.end;
        split_index(reach.first_thread, kernel.block, extent.first_thread);
        split_index(reach.last_thread, kernel.block, extent.last_thread);
        split_index(reach.first_block, launch.grid, extent.first_block);
        split_index(reach.last_block, launch.grid, extent.last_block);
        extents.push_back(std::move(extent));
    }
    if (extents.size() > 1) report().add_extents(std::move(extents));
}

}  // namespace emu
