#include "report/report.h"

#include <algorithm>
#include <cstdio>

#include "api/streams.h"
#include "checks/call_errors.h"
#include "host.h"
#include "profile/profile.h"
#include "report/journal.h"

namespace emu {

void Report::add_fault(Fault fault) {
    std::lock_guard lock(mutex_);
    journal().add(Entry::fault, fault);
    auto here = std::tie(fault.file, fault.line), there = std::tie(fault.other.file, fault.other.line);
    auto [low, high] = std::minmax(here, there);  // a race is the same from either side
    auto [site, fresh] = sites_.try_emplace(
        {fault.kernel, fault.kind, std::get<0>(low), std::get<1>(low), std::get<0>(high), std::get<1>(high)},
        contents_.faults.size());
    if (!fresh) {
        if (site->second < max_faults) contents_.faults[site->second].count += fault.count;
    } else if (contents_.faults.size() < max_faults) {
        contents_.faults.push_back(std::move(fault));
    } else {
        ++contents_.omitted_sites;
    }
}

void Report::add_unchecked(std::string what) {
    std::lock_guard lock(mutex_);
    journal().add(Entry::unchecked, what);
    if (contents_.unchecked.size() < max_faults) contents_.unchecked.insert(std::move(what));
}

void Report::add_extents(std::vector<SharedExtent> extents) {
    std::lock_guard lock(mutex_);
    if (contents_.extents.size() + extents.size() > max_extents) return;
    if (!known_extents_.insert(Writer()(extents).bytes).second) return;
    journal().add(Entry::extents, extents);
    for (SharedExtent &extent : extents) {
        extent.launch = known_extents_.size();
        contents_.extents.push_back(std::move(extent));
    }
}

void Report::count_faults(uint64_t count) {
    std::lock_guard lock(mutex_);
    if (count) journal().add(Entry::fault_count, count);
    contents_.fault_count += count;
}

void Report::add_launch(LaunchRecord launch) {
    std::lock_guard lock(mutex_);
    contents_.ending.kernel.clear();
    contents_.warp_instructions += launch.warp_instructions;
    ++contents_.launch_count;
    if (contents_.launches.size() < max_launches) {
        journal().add(Entry::launch, launch);
        contents_.launches.push_back(std::move(launch));
    } else {
        journal().add(Entry::further_launch, launch.warp_instructions);
    }
}

uint64_t Report::launch_count() {
    std::lock_guard lock(mutex_);
    return contents_.launch_count;
}

void Report::add_printed(const std::string &text, std::FILE *stream) {
    std::lock_guard lock(mutex_);
    if (journal().is_open()) {
        std::fwrite(text.data(), 1, text.size(), stream);
        return;
    }
    std::string &output = contents_.printf_output;
    output.append(text, 0, max_printf_bytes - output.size());
}

void Report::set_limit(const char *which) {
    std::lock_guard lock(mutex_);
    if (!contents_.limit.empty()) return;
    contents_.limit = which;
    journal().add(Entry::limit, contents_.limit);
}

void Report::set_unsupported(const std::string &what) {
    std::lock_guard lock(mutex_);
    if (!contents_.unsupported.empty()) return;
    contents_.unsupported = what;
    journal().add(Entry::unsupported, what);
}

void Report::set_failure(const std::string &what) {
    std::lock_guard lock(mutex_);
    if (!contents_.failure.empty()) return;
    contents_.failure = what;
    journal().add(Entry::failure, what);
}

void Report::add_call_error(CallError error) {
    std::lock_guard lock(mutex_);
    ++contents_.call_error_count;
    journal().add(Entry::call_error, error);
    if (contents_.call_errors.size() < max_call_errors) contents_.call_errors.push_back(std::move(error));
}

void Report::count_call_error() {
    std::lock_guard lock(mutex_);
    journal().add(Entry::call_error_again);
    ++contents_.call_error_count;
}

void Report::mark_call_error_queried(uint32_t id) {
    std::lock_guard lock(mutex_);
    journal().add(Entry::was_queried, id);
    for (CallError &error : contents_.call_errors) error.was_queried |= error.id == id;
}

void Report::add_leak(Leak leak) {
    std::lock_guard lock(mutex_);
    ++contents_.leak_count;
    contents_.leaked_bytes += leak.size;
    journal().add(Entry::leak, leak);
    if (contents_.leaks.size() < max_leaks) contents_.leaks.push_back(std::move(leak));
}

void Report::begin_launch(const std::string &kernel) {
    std::lock_guard lock(mutex_);
    if (contents_.launches.size() < max_launches) journal().add(Entry::launch_begun, kernel);
    contents_.ending.kernel = kernel;
}

void Report::add_crash(const std::string &what, const std::string &frames) {
    std::lock_guard lock(mutex_);
    journal().add(Entry::crash, what, frames);
    contents_.ending.crash = what;
    contents_.ending.crash_frames = frames;
}

void Report::begin_use() {
    std::lock_guard lock(mutex_);
    journal().add(Entry::used);
}

void Report::end_regularly() {
    std::lock_guard lock(mutex_);
    journal().add(Entry::ended);
    contents_.ending.is_regular = true;
}

namespace {

// One entry's content.
template <class... Values>
bool read(const std::string &content, Values &...values) {
    return Reader(content)(values...).is_whole();
}

}  // namespace

bool Report::replay(const std::string &bytes) {
    Reader entries(bytes);
    while (!entries.at_end()) {
        Entry entry;
        std::string content;
        // What was being written when the process died is left out.
        if (!entries(entry, content).is_whole()) break;
        std::string text, frames;
        uint64_t count;
        uint32_t number;
        switch (entry) {
        case Entry::program: {
            std::lock_guard lock(mutex_);
            if (!read(content, contents_.process, contents_.program)) return false;
            break;
        }
        case Entry::launch_begun:
            if (read(content, text)) begin_launch(text);
            break;
        case Entry::launch:
            if (LaunchRecord launch{}; read(content, launch)) add_launch(std::move(launch));
            break;
        case Entry::further_launch:
            if (LaunchRecord launch{}; read(content, launch.warp_instructions)) add_launch(std::move(launch));
            break;
        case Entry::fault:
            if (Fault fault; read(content, fault)) add_fault(std::move(fault));
            break;
        case Entry::fault_count:
            if (read(content, count)) count_faults(count);
            break;
        case Entry::unchecked:
            if (read(content, text)) add_unchecked(text);
            break;
        case Entry::extents:
            if (std::vector<SharedExtent> extents; read(content, extents)) add_extents(std::move(extents));
            break;
        case Entry::limit:
            if (read(content, text)) set_limit(text.c_str());
            break;
        case Entry::unsupported:
            if (read(content, text)) set_unsupported(text);
            break;
        case Entry::failure:
            if (read(content, text)) set_failure(text);
            break;
        case Entry::call_error:
            if (CallError error; read(content, error)) add_call_error(std::move(error));
            break;
        case Entry::call_error_again: count_call_error(); break;
        case Entry::was_queried:
            if (read(content, number)) mark_call_error_queried(number);
            break;
        case Entry::leak:
            if (Leak leak; read(content, leak)) add_leak(std::move(leak));
            break;
        case Entry::crash:
            if (read(content, text, frames)) add_crash(text, frames);
            break;
        case Entry::ended: end_regularly(); break;
        case Entry::used: break;
        default: return false;
        }
    }
    return true;
}

Report::Contents Report::take() {
    std::lock_guard lock(mutex_);
    Contents taken = std::move(contents_);
    contents_ = {};
    sites_.clear();
    known_extents_.clear();
    return taken;
}

Report &report() {
    static Report *instance = new Report;
    return *instance;
}

}  // namespace emu

namespace {

// What emu_report_take() returned last; the strings handed out live until the next call.
emu::Report::Contents taken;
std::string unchecked;

}  // namespace

EMU_HOST void emu_report_take(EmuReport *out) {
    emu::wait_for_device();
    taken = emu::report().take();
    emu::forget_l2();
    emu::forget_call_errors();
    unchecked.clear();
    for (const std::string &what : taken.unchecked) unchecked += what + "\n";
    *out = {taken.warp_instructions,
            taken.fault_count,
            static_cast<uint32_t>(taken.launches.size()),
            static_cast<uint32_t>(taken.faults.size()),
            taken.omitted_sites,
            unchecked.c_str(),
            taken.limit.c_str(),
            taken.unsupported.c_str(),
            taken.printf_output.data(),
            taken.printf_output.size(),
            static_cast<uint32_t>(taken.extents.size())};
}

EMU_HOST void emu_report_endings(EmuEndings *out) {
    *out = {taken.call_error_count,
            taken.leak_count,
            taken.leaked_bytes,
            static_cast<uint32_t>(taken.call_errors.size()),
            static_cast<uint32_t>(taken.leaks.size()),
            taken.failure.c_str(),
            taken.program.c_str(),
            taken.ending.crash.c_str(),
            taken.ending.crash_frames.c_str(),
            taken.ending.kernel.c_str(),
            taken.process,
            taken.ending.is_regular,
            taken.launch_count};
}

EMU_HOST void emu_report_call_error(uint32_t index, EmuCallError *out) {
    const emu::CallError &error = taken.call_errors.at(index);
    *out = {error.kind.c_str(), error.message.c_str(), error.call.c_str(), error.frames.c_str(),
            error.code,         error.was_queried};
}

EMU_HOST void emu_report_leak(uint32_t index, EmuLeak *out) {
    const emu::Leak &leak = taken.leaks.at(index);
    *out = {leak.allocation.c_str(), leak.frames.c_str(), leak.size};
}

// Adds the journal of another process to this one's report. Returns 0 for what is none.
EMU_HOST int emu_report_replay(const char *journal, uint64_t size) {
    return emu::report().replay(std::string(journal, size));
}

const emu::LaunchRecord &emu::taken_launch(uint32_t index) { return taken.launches.at(index); }

EMU_HOST void emu_report_launch(uint32_t index, EmuLaunch *out) {
    const emu::LaunchRecord &launch = taken.launches.at(index);
    out->kernel = launch.kernel.c_str();
    std::copy_n(launch.grid, 3, out->grid);
    std::copy_n(launch.block, 3, out->block);
    out->warp_instructions = launch.warp_instructions;
    out->wall_s = launch.wall_s;
}

EMU_HOST void emu_report_extent(uint32_t index, EmuExtent *out) {
    const emu::SharedExtent &extent = taken.extents.at(index);
    *out = {extent.kernel.c_str(), extent.file.c_str(), extent.launch, extent.begin, extent.end,
            extent.line,           extent.is_write};
    std::copy_n(extent.first_thread, 3, out->first_thread);
    std::copy_n(extent.first_block, 3, out->first_block);
    std::copy_n(extent.last_thread, 3, out->last_thread);
    std::copy_n(extent.last_block, 3, out->last_block);
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
    out->count = fault.count;
    out->has_other = fault.other.exists;
    out->other_file = fault.other.file.c_str();
    out->other_line = fault.other.line;
    out->other_is_write = fault.other.is_write;
    std::copy_n(fault.other.thread, 3, out->other_thread);
    std::copy_n(fault.other.block, 3, out->other_block);
    out->host_frames = fault.host_frames.c_str();
}
