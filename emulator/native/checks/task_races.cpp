#include "checks/task_races.h"

#include <algorithm>
#include <utility>

#include "checks/call_errors.h"
#include "checks/faults.h"
#include "exec/memory.h"
#include "exec/observe.h"
#include "exec/scheduler.h"
#include "report/symbol_names.h"

namespace emu {

namespace {

// Of the shadow memory that is kept. What goes beyond is not followed.
constexpr size_t max_kept_pages = GlobalCells::max_pages / 2;
constexpr size_t max_tasks = Trace::max_clock;
// Of a copy or fill, so much is followed.
constexpr uint64_t max_call_bytes = 16 << 20;

}  // namespace

void TaskRaces::begin(Known known) {
    if (tasks_.size() >= max_tasks) {
        tasks_.clear();
        pages_.clear();
    }
    tasks_.push_back(std::move(known));
    before_.assign(tasks_.size(), 0);
}

void TaskRaces::add(const Launch &launch, CellPages pages) {
    std::lock_guard lock(mutex_);
    if (!current_task()) return;
    begin({current_task(), launch.kernel, {launch.grid[0], launch.grid[1], launch.grid[2]}});
    merge(std::move(pages));
    report_races();
}

void TaskRaces::add(uint64_t address, uint64_t size, bool writes) {
    if (!observe_settings().check_full || !current_task()) return;
    std::lock_guard lock(mutex_);
    auto found = memory().find(address);
    if (!found || found->kind == MemoryKind::constant) return;
    if (tasks_.empty() || tasks_.back().task != current_task()) begin({current_task(), nullptr, {}});
    Trace trace{};
    trace.clock = 1;
    CellPages pages;
    for (uint64_t end = std::min({address + size, found->end, address + max_call_bytes}); address < end;) {
        uint32_t part = address % 4 || end - address < 4 ? 1 : 4;
        auto &page = pages[address / GlobalCells::page_bytes];
        if (!page) page = std::make_unique<Cells>(GlobalCells::page_bytes / 4);
        page->each(address % GlobalCells::page_bytes, part, [&](Cell &cell) {
            (writes ? cell.write : cell.read) = trace;
            return false;
        });
        address += part;
    }
    merge(std::move(pages));
    report_races();
}

void TaskRaces::forget() {
    std::lock_guard lock(mutex_);
    tasks_.clear();
    pages_.clear();
}

void TaskRaces::forget(uint64_t address, uint64_t size) {
    std::lock_guard lock(mutex_);
    forget_cells(pages_, address, size);
}

void TaskRaces::merge(CellPages pages) {
    Clock number = static_cast<Clock>(tasks_.size());
    for (auto &[page, cells] : pages) {
        cells->set_clocks(number);
        auto known = pages_.find(page);
        if (known != pages_.end()) {
            uint64_t address = page * GlobalCells::page_bytes;
            known->second->meet(*cells, [&](Cell &was, Cell &is, uint64_t offset) { visit(was, is, address + offset); });
        } else if (pages_.size() < max_kept_pages) {
            pages_.emplace(page, std::move(cells));
        }
    }
}

bool TaskRaces::is_before(const Trace &trace) {
    uint8_t &known = before_[trace.clock - 1];
    if (!known) known = trace.clock == tasks_.size() || tasks_.back().task->comes_after(*tasks_[trace.clock - 1].task) ? 1 : 2;
    return known == 1;
}

void TaskRaces::visit(Cell &known, Cell &added, uint64_t address) {
    bool writes = !added.write.empty();
    const Trace &now = writes ? added.write : !added.read.empty() ? added.read : added.other;
    if (now.empty()) return;
    auto check = [&](const Trace &then, bool then_writes) {
        if (then.empty() || (then.strong && now.strong) || is_before(then)) return;
        meet({tasks_.back(), now, writes}, {tasks_[then.clock - 1], then, then_writes}, address);
    };
    check(known.write, true);
    if (!writes) {
        bool is_known = known.read.empty() || is_before(known.read);
        (is_known ? known.read : known.other) = now;
        return;
    }
    check(known.read, false);
    check(known.other, false);
    known = {now, {}, {}};
}

void TaskRaces::meet(const Side &now, const Side &then, uint64_t address) {
    const EmuSite *site = now.site(), *other = then.site();
    // They set one flag.
    if (now.writes && then.writes && site && other && site->order & other->order & EMU_CONSTANT) return;
    // The heap's lock orders those who get memory that others have freed.
    auto allocation = memory().find(address);
    if (!allocation || allocation->kind == MemoryKind::heap) return;
    auto key = std::make_tuple(now.of.kernel, uint32_t{now.trace.site}, then.of.kernel, uint32_t{then.trace.site},
                               then.of.kernel ? 0 : uint32_t{then.trace.clock});
    Race &race = races_[key];
    // A line in a kernel tells more than a call.
    if (!race.count++) race.fault = site || !other ? explanation_of(now, then, address) : explanation_of(then, now, address);
}

Fault TaskRaces::explanation_of(const Side &now, const Side &then, uint64_t address) const {
    Fault fault;
    fault.kind = "race between streams";
    fault.address = address;
    fault.is_write = now.writes;
    if (auto allocation = memory().find(address)) fault.allocation = allocation->label;
    std::string who = now.of.task->call;
    if (const EmuSite *site = now.site()) {
        fault.kernel = readable_name(now.of.kernel->name);
        fault.file = site->file;
        fault.line = site->line;
        fault.size = site->size;
        split_index(now.trace.thread, now.of.kernel->block, fault.thread);
        split_index(now.trace.block, now.of.grid, fault.block);
        who = "it";
    }
    Party &other = fault.other;
    other.exists = true;
    other.is_write = then.writes;
    std::string doer = then.of.task->call, place;
    if (const EmuSite *site = then.site()) {
        other.file = site->file;
        other.line = site->line;
        split_index(then.trace.thread, then.of.kernel->block, other.thread);
        split_index(then.trace.block, then.of.grid, other.block);
        doer = readable_name(then.of.kernel->name);
        if (site->line) place = " at " + other.file + ":" + std::to_string(other.line);
    }
    fault.message = fault.kind + (now.site() ? " at " + where(fault) : "") + ": " + who + (now.writes ? " writes " : " reads ") +
                    describe_address(address) + ", which " + doer + (then.writes ? " writes" : " reads") + place +
                    ", and nothing orders the two: record an event behind the first and let the stream of the second wait for it "
                    "(cudaStreamWaitEvent), or use one stream";
    return fault;
}

void TaskRaces::report_races() {
    for (auto &[key, race] : races_) {
        race.fault.count = race.count;
        report().count_faults(race.count);
        report().add_fault(std::move(race.fault));
    }
    races_.clear();
}

TaskRaces &task_races() {
    static TaskRaces *instance = new TaskRaces;  // as the memory
    return *instance;
}

}  // namespace emu
