#include "checks/task_races.h"

#include <algorithm>
#include <utility>

#include "checks/call_errors.h"
#include "checks/faults.h"
#include "exec/memory.h"
#include "exec/observe.h"
#include "exec/round_up.h"
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
    begin({current_task(), launch.kernel, {launch.grid[0], launch.grid[1], launch.grid[2]}, launch.meets_host});
    if (!launch.meets_host) watch(pages);
    merge(std::move(pages));
    report_races();
}

namespace {

// Notes the access to `size` bytes.
void touch(CellPages &pages, uint64_t address, uint64_t size, bool writes) {
    Trace trace{};
    trace.clock = 1;
    for (uint64_t end = address + size; address < end;) {
        uint32_t part = address % 4 || end - address < 4 ? 1 : 4;
        auto &page = pages[address / GlobalCells::page_bytes];
        if (!page) page = std::make_unique<Cells>(GlobalCells::page_bytes / 4);
        page->each(address % GlobalCells::page_bytes, part, [&](Cell &cell) {
            (writes ? cell.write : cell.read) = trace;
            return false;
        });
        address += part;
    }
}

}  // namespace

void TaskRaces::add(uint64_t address, uint64_t size, bool writes) {
    if (!observe_settings().check_full || !current_task()) return;
    std::lock_guard lock(mutex_);
    auto found = memory().find(address);
    if (!found) return;
    if (tasks_.empty() || tasks_.back().task != current_task()) begin({current_task(), nullptr, {}});
    CellPages pages;
    touch(pages, address, std::min({size, found->end - address, max_call_bytes}), writes);
    watch(pages);
    merge(std::move(pages));
    report_races();
}

void TaskRaces::add(const Task &task, const HostAccesses::Noted &noted) {
    std::lock_guard lock(mutex_);
    for (size_t site = 0; site < noted.sites.size(); ++site) {
        auto own = std::make_shared<Task>(task);
        own->frames = program_frames(noted.sites[site].frames, nullptr);
        begin({std::move(own), nullptr, {}});
        CellPages pages;
        // How many bytes more an instruction touches is not known.
        for (const HostAccesses::Access &access : noted.accesses) {
            if (access.site == site) touch(pages, access.address, 1, access.writes);
        }
        merge(std::move(pages));
    }
    report_races();
}

// Of a large part of an allocation the pages at its ends are left out, since system calls that use what lies beside it
// would fail.
void TaskRaces::watch(const CellPages &pages) const {
    struct Touched {
        uint64_t page;
        bool writes, is_whole;
    };
    std::map<uint64_t, std::vector<Touched>> by_allocation;
    for (const auto &[page, cells] : pages) {
        uint64_t begin = page * GlobalCells::page_bytes, end = begin + GlobalCells::page_bytes;
        auto found = memory().find(begin);
        if (!found || !shared_with_host(found->kind)) continue;
        bool is_registered = found->kind == MemoryKind::registered_host;
        if (is_registered && found->end < end) continue;  // the rest of the page is the host's own
        Touched touched{page, false, true};
        uint64_t size = round_up(std::min(end, found->end) - begin, 4);
        cells->each(0, static_cast<uint32_t>(size), [&](Cell &cell) {
            touched.writes |= !cell.write.empty();
            touched.is_whole &= !cell.write.empty() || !cell.read.empty();
            return false;
        });
        by_allocation[found->begin].push_back(touched);
    }
    for (const auto &[begin, touched] : by_allocation) {
        bool has_whole = std::any_of(touched.begin(), touched.end(), [](const Touched &it) { return it.is_whole; });
        for (const Touched &it : touched) {
            if (it.is_whole || !has_whole) host_accesses().watch(it.page, it.writes);
        }
    }
}

void TaskRaces::forget() {
    std::lock_guard lock(mutex_);
    tasks_.clear();
    pages_.clear();
}

void TaskRaces::forget(uint64_t address, uint64_t size) {
    host_accesses().forget(address, size);
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
            known->second->meet(*cells,
                                [&](Cell &was, Cell &is, uint64_t offset) { visit(was, is, address + offset); });
        } else if (pages_.size() < max_kept_pages) {
            pages_.emplace(page, std::move(cells));
        }
    }
}

bool TaskRaces::is_before(const Trace &trace) {
    uint8_t &known = before_[trace.clock - 1];
    if (!known)
        known = trace.clock == tasks_.size() || tasks_.back().task->comes_after(*tasks_[trace.clock - 1].task) ? 1 : 2;
    return known == 1;
}

// Host code and a kernel that runs beside it may order what they do by themselves.
bool TaskRaces::is_between_host_and_its_partner(const Trace &then) const {
    const Known &one = tasks_.back(), &other = tasks_[then.clock - 1];
    return (one.is_host() && other.meets_host) || (one.meets_host && other.is_host());
}

void TaskRaces::visit(Cell &known, Cell &added, uint64_t address) {
    bool writes = !added.write.empty();
    const Trace &now = writes ? added.write : !added.read.empty() ? added.read : added.other;
    if (now.empty()) return;
    auto check = [&](const Trace &then, bool then_writes) {
        if (then.empty() || (then.strong && now.strong) || is_before(then)) return;
        if (is_between_host_and_its_partner(then)) return;
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
    if (race.count++) return;
    if (now.of.is_host() || then.of.is_host()) {
        race.fault =
            now.of.is_host() ? explanation_with_host(then, now, address) : explanation_with_host(now, then, address);
    } else {
        race.fault = site || !other ? explanation_of(now, then, address) : explanation_of(then, now, address);
    }
}

Fault TaskRaces::fault_of(const char *kind, const Side &side, uint64_t address, std::string *does) const {
    Fault fault;
    fault.kind = kind;
    fault.address = address;
    fault.is_write = side.writes;
    if (auto allocation = memory().find(address)) fault.allocation = allocation->label;
    std::string who = side.of.task->call;
    if (const EmuSite *site = side.site()) {
        fault.kernel = readable_name(side.of.kernel->name);
        fault.file = site->file;
        fault.line = site->line;
        fault.size = site->size;
        split_index(side.trace.thread, side.of.kernel->block, fault.thread);
        split_index(side.trace.block, side.of.grid, fault.block);
        who = "it";
    }
    *does = fault.kind + (side.site() ? " at " + where(fault) : "") + ": " + who +
            (side.writes ? " writes " : " reads ") + describe_address(address);
    return fault;
}

Fault TaskRaces::explanation_with_host(const Side &device, const Side &host, uint64_t address) const {
    std::string does;
    Fault fault = fault_of("race with the host", device, address, &does);
    fault.other.exists = true;
    fault.other.is_write = host.writes;
    fault.host_frames = host.of.task->frames;
    fault.message = does + ", which the host " + (host.writes ? "writes" : "reads") +
                    " before it has waited for that: call cudaStreamSynchronize, cudaEventSynchronize or "
                    "cudaDeviceSynchronize in between";
    return fault;
}

Fault TaskRaces::explanation_of(const Side &now, const Side &then, uint64_t address) const {
    std::string does;
    Fault fault = fault_of("race between streams", now, address, &does);
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
    fault.message =
        does + ", which " + doer + (then.writes ? " writes" : " reads") + place +
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
