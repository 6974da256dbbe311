#include "report.h"

#include <algorithm>

#include "host.h"

namespace emu {

void Report::add_fault(Fault fault) {
    std::lock_guard lock(mutex_);
    if (contents_.faults.size() >= most_faults) return;
    if (!sites_.emplace(fault.kernel, fault.file, fault.line, fault.kind).second) return;
    contents_.faults.push_back(std::move(fault));
}

void Report::count_faults(uint64_t count) {
    std::lock_guard lock(mutex_);
    contents_.fault_count += count;
}

void Report::add_launch(LaunchRecord launch) {
    std::lock_guard lock(mutex_);
    contents_.warp_instructions += launch.warp_instructions;
    if (contents_.launches.size() < most_launches) contents_.launches.push_back(std::move(launch));
}

void Report::add_printf(const char *text, size_t size) {
    std::lock_guard lock(mutex_);
    std::string &output = contents_.printf_output;
    output.append(text, std::min(size, most_printf_bytes - output.size()));
}

void Report::set_limit(const char *which) {
    std::lock_guard lock(mutex_);
    if (contents_.limit.empty()) contents_.limit = which;
}

void Report::set_unsupported(const std::string &what) {
    std::lock_guard lock(mutex_);
    if (contents_.unsupported.empty()) contents_.unsupported = what;
}

Report::Contents Report::take() {
    std::lock_guard lock(mutex_);
    Contents taken = std::move(contents_);
    contents_ = {};
    sites_.clear();
    return taken;
}

Report &report() {
    static Report *instance = new Report;  // never destroyed, as launches may come from destructors
    return *instance;
}

}  // namespace emu

namespace {

// What emu_report_take() returned last; the strings handed out live until the next call.
emu::Report::Contents taken;

}  // namespace

EMU_HOST void emu_report_take(EmuReport *out) {
    taken = emu::report().take();
    *out = {taken.warp_instructions,
            taken.fault_count,
            static_cast<uint32_t>(taken.launches.size()),
            static_cast<uint32_t>(taken.faults.size()),
            taken.limit.c_str(),
            taken.unsupported.c_str(),
            taken.printf_output.data(),
            taken.printf_output.size()};
}

EMU_HOST void emu_report_launch(uint32_t index, EmuLaunch *out) {
    const emu::LaunchRecord &launch = taken.launches.at(index);
    out->kernel = launch.kernel.c_str();
    std::copy_n(launch.grid, 3, out->grid);
    std::copy_n(launch.block, 3, out->block);
    out->warp_instructions = launch.warp_instructions;
    out->wall_s = launch.wall_s;
}

EMU_HOST void emu_report_fault(uint32_t index, EmuFault *out) {
    const emu::Fault &fault = taken.faults.at(index);
    out->kind = fault.kind.c_str();
    out->message = fault.message.c_str();
    out->kernel = fault.kernel.c_str();
    out->file = fault.file.c_str();
    out->allocation = fault.allocation.c_str();
    out->address = fault.address;
    out->line = fault.line;
    out->size = fault.size;
    std::copy_n(fault.thread, 3, out->thread);
    std::copy_n(fault.block, 3, out->block);
    out->is_write = fault.is_write;
}
