// Races between pieces of work of the device: launches, copies and fills that touch the same bytes, at least one of
// which writes, and that neither streams, events, graphs nor the host order. Also those between such work and host
// code.
//
// racecheck's shadow memory of each launch is kept until the host has waited for the whole device. There the clock of
// an access is the number of its task.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "abi.h"
#include "api/tasks.h"
#include "checks/host_accesses.h"
#include "checks/shadow_memory.h"
#include "report/report.h"

namespace emu {

struct Launch;

class TaskRaces {
public:
    // The current task is a launch that has ended, with what it touched.
    void add(const Launch &launch, CellPages pages);
    // The current task is a call that has read or written these bytes.
    void add(uint64_t address, uint64_t size, bool writes);
    // Host code has touched memory. `task` says what it comes after.
    void add(const Task &task, const HostAccesses::Noted &noted);
    // The host has waited for everything.
    void forget();
    // Nobody has touched these bytes: they belong to another allocation.
    void forget(uint64_t address, uint64_t size);

private:
    struct Known {
        TaskPointer task;
        const EmuKernel *kernel;  // null for a call
        uint32_t grid[3];
        bool meets_host = false;  // see Launch

        bool is_host() const { return task->line == 0; }
    };
    struct Side {
        const Known &of;
        const Trace &trace;
        bool writes;

        const EmuSite *site() const { return of.kernel ? &of.kernel->sites[trace.site] : nullptr; }
    };
    struct Race {
        Fault fault;
        uint64_t count = 0;
    };

    void begin(Known known);
    void merge(CellPages pages);
    void watch(const CellPages &pages) const;
    void visit(Cell &known, Cell &added, uint64_t address);
    bool is_before(const Trace &trace);
    bool is_between_host_and_its_partner(const Trace &then) const;
    void meet(const Side &now, const Side &then, uint64_t address);
    // What that side has done to the address; `*does` says it.
    Fault fault_of(const char *kind, const Side &side, uint64_t address, std::string *does) const;
    Fault explanation_of(const Side &now, const Side &then, uint64_t address) const;
    Fault explanation_with_host(const Side &device, const Side &host, uint64_t address) const;
    void report_races();

    std::mutex mutex_;
    std::vector<Known> tasks_;
    CellPages pages_;
    // While a task is added: which others come before it (0: not known yet, 1: before, 2: not), and what it races with.
    std::vector<uint8_t> before_;
    std::map<std::tuple<const EmuKernel *, uint32_t, const EmuKernel *, uint32_t, uint32_t>, Race> races_;
};

TaskRaces &task_races();

}  // namespace emu
