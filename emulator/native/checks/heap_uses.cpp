#include "checks/heap_uses.h"

#include <optional>
#include <utility>

#include "checks/faults.h"
#include "exec/block.h"
#include "exec/device_heap.h"
#include "exec/scheduler.h"

namespace emu {

namespace {

void report_use(const Access &access, const Heap::Freed &freed) {
    Launch &launch = access.warp->block->launch;
    uint32_t index = static_cast<uint32_t>(access.site - launch.kernel->sites);
    bool is_first = launch.first_at(index, cudaSuccess);
    ++launch.faults;
    if (!is_first) return;
    Fault fault = fault_at(access);
    fault.kind = fault.is_write ? "write after free" : "read after free";
    fault.allocation = "the device heap";
    const Party &by = freed.by;
    std::string line = by.line ? " at " + by.file + ":" + std::to_string(by.line) : "";
    fault.message = fault.kind + " of " + bytes(fault.size) + " at " + where(fault) +
                    ": it lies in memory that malloc() gave and thread " + triple(by.thread) + " of block " +
                    triple(by.block) + " has freed" + line;
    launch.report_fault(index, cudaSuccess, std::move(fault));
}

class BlockHeapUses : public BlockObserver {
public:
    void access(const WarpContext &warp, uint32_t index, uint32_t lanes, const uint64_t *address) override {
        if (!device_heap().has_freed()) return;
        const EmuSite &site = warp.kernel->sites[index];
        bool may_be_there = site.space == EMU_GLOBAL || site.space == EMU_GENERIC;
        if (site.kind == EMU_NO_ACCESS || !may_be_there) return;
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            uint32_t lane = static_cast<uint32_t>(__builtin_ctz(rest));
            std::optional<Heap::Freed> freed = device_heap().freed_at(address[lane]);
            if (freed) report_use({&warp, &site, lane, address[lane]}, *freed);
        }
    }
};

}  // namespace

std::unique_ptr<BlockObserver> HeapUses::watch(BlockContext &) { return std::make_unique<BlockHeapUses>(); }

}  // namespace emu
