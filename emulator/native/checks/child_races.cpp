#include "checks/child_races.h"

#include <map>
#include <utility>

#include "checks/faults.h"
#include "exec/memory.h"
#include "exec/scheduler.h"
#include "report/symbol_names.h"

namespace emu {

bool ParentAccesses::is_before(const LaunchPoint &point, const Trace &then) const {
    uint32_t warp = then.thread / 32;
    if (then.block != point.block) return published.known(then.block, warp, then.clock, point.seen);
    if (warp == point.warp) return then.clock <= point.own[then.thread % 32];
    return then.clock <= point.of_warps[warp];
}

CellPages copy_of(const CellPages &pages) {
    CellPages copy;
    for (const auto &[page, cells] : pages) copy.emplace(page, std::make_unique<Cells>(*cells));
    return copy;
}

namespace {

struct ChildRace {
    Fault fault;
    uint64_t count = 0;
};

Fault explain(const Launch &child, const ParentAccesses &parent, const Trace &now, bool writes, const Trace &then,
              bool then_writes, uint64_t address) {
    const EmuSite &site = child.kernel->sites[now.site], &other = parent.kernel->sites[then.site];
    Fault fault;
    fault.kind = "race on global memory";
    fault.kernel = readable_name(child.kernel->name);
    fault.file = site.file;
    fault.line = site.line;
    fault.size = site.size;
    fault.address = address;
    fault.is_write = writes;
    split_index(now.thread, child.kernel->block, fault.thread);
    split_index(now.block, child.grid, fault.block);
    Location location = global_location(child, address);
    fault.allocation = location.name;
    Party &party = fault.other;
    party.exists = true;
    party.file = other.file;
    party.line = other.line;
    party.is_write = then_writes;
    split_index(then.thread, parent.kernel->block, party.thread);
    split_index(then.block, parent.grid, party.block);
    std::string source = other.line ? " at " + party.file + ":" + std::to_string(other.line) : "";
    fault.message =
        fault.kind + " at " + where(fault) + ": it " + (writes ? "writes" : "reads") + " " + location.text +
        ", which thread " + triple(party.thread) + " of block " + triple(party.block) + " of the kernel " +
        readable_name(parent.kernel->name) + ", which launched it," + (then_writes ? " writes" : " reads") + source +
        ", and nothing orders the two: a child comes after what its thread did before the launch, and the threads that "
        "met it at a "
        "barrier before; read what it writes in a kernel that cudaStreamTailLaunch launches, or that the host does";
    return fault;
}

}  // namespace

void check_against_ancestors(const Launch &launch, CellPages &pages) {
    std::map<std::pair<const EmuSite *, const EmuSite *>, ChildRace> races;
    for (const Ancestor &ancestor : ancestors()) {
        const ParentAccesses &parent = *ancestor.accesses;
        for (auto &[page, cells] : pages) {
            auto found = parent.pages.find(page);
            if (found == parent.pages.end()) continue;
            uint64_t begin = page * GlobalCells::page_bytes;
            // The heap's lock orders those who get memory that others have given back.
            const Allocation *allocation = launch.memory->find(begin);
            if (allocation && allocation->kind == MemoryKind::heap) continue;
            found->second->meet(*cells, [&](Cell &was, Cell &is, uint64_t offset) {
                bool writes = !is.write.empty();
                const Trace &now = writes ? is.write : !is.read.empty() ? is.read : is.other;
                if (now.empty()) return;
                auto check = [&](const Trace &then, bool then_writes) {
                    if (then.empty() || (then.strong && now.strong) || parent.is_before(*ancestor.point, then)) return;
                    const EmuSite &site = launch.kernel->sites[now.site], &other = parent.kernel->sites[then.site];
                    // They set one flag.
                    if (writes && then_writes && site.order & other.order & EMU_CONSTANT) return;
                    ChildRace &race = races[{&site, &other}];
                    if (!race.count++)
                        race.fault = explain(launch, parent, now, writes, then, then_writes, begin + offset);
                };
                check(was.write, true);
                if (!writes) return;
                check(was.read, false);
                check(was.other, false);
            });
        }
    }
    for (auto &[sites, race] : races) {
        race.fault.count = race.count;
        report().count_faults(race.count);
        report().add_fault(std::move(race.fault));
    }
}

}  // namespace emu
