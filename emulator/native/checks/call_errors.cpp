#include "checks/call_errors.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unwind.h>

#include <atomic>
#include <cctype>
#include <cstdio>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "api/errors.h"
#include "api/modules.h"
#include "checks/used_results.h"
#include "driver/call.h"
#include "exec/memory.h"
#include "exec/virtual_memory.h"
#include "report/report.h"
#include "report/symbol_names.h"

namespace emu {

namespace {

// A program may fail in a loop: looking at frames costs some ten microseconds.
constexpr unsigned max_explained = 10000;

struct Explanation {
    const char *kind = nullptr;
    std::string message;
};

thread_local Explanation explanation;

struct Noted {
    uint32_t id;
    cudaError_t error;
    const void *thread;
    bool was_queried;
};

std::mutex calls_mutex;
std::map<std::tuple<std::string, std::string, int>, size_t> sites;  // of `noted`
std::vector<Noted> noted;
std::atomic<unsigned> explained{0};
std::atomic<bool> sticky_is_noted{false};
bool leaks_are_watched = false;
std::map<uint64_t, std::string> allocation_frames;

const void *this_thread() {
    static thread_local char mark;
    return &mark;
}

_Unwind_Reason_Code step(_Unwind_Context *context, void *data) {
    Frames &walk = *static_cast<Frames *>(data);
    int is_exact = 0;
    uintptr_t address = _Unwind_GetIPInfo(context, &is_exact);
    if (!address || walk.count == Frames::most) return _URC_END_OF_STACK;
    walk.addresses[walk.count++] = is_exact ? address : address - 1;  // within the call, not behind it
    return _URC_NO_REASON;
}

const void *base_of(const void *address) {
    Dl_info info;
    return dladdr(address, &info) ? info.dli_fbase : nullptr;
}

// The name of a function as programs call it, whichever their default stream is and whichever form of it they have.
std::string as_called(std::string name) {
    name = name.substr(0, name.find("_pt"));
    bool has_form = name.size() > 3 && name.compare(name.size() - 3, 2, "_v") == 0 && std::isdigit(name.back());
    return has_form ? name.substr(0, name.size() - 3) : name;
}

void mark_looked(Noted &it) {
    if (it.was_queried) return;
    it.was_queried = true;
    report().mark_call_error_queried(it.id);
}

}  // namespace

Frames walk_frames() {
    Frames walk;
    _Unwind_Backtrace(step, &walk);
    return walk;
}

std::string program_frames(std::string *entry) { return program_frames(walk_frames(), entry); }

std::string program_frames(const Frames &walk, std::string *entry) {
    static const void *own = base_of(reinterpret_cast<const void *>(&walk_frames));
    std::string frames;
    for (size_t i = 0; i < walk.count; ++i) {
        Dl_info info;
        link_map *object = nullptr;
        if (!dladdr1(reinterpret_cast<void *>(walk.addresses[i]), &info, reinterpret_cast<void **>(&object),
                     RTLD_DL_LINKMAP)) {
            continue;
        }
        if (info.dli_fbase == own) {
            if (entry && frames.empty() && info.dli_sname) *entry = as_called(info.dli_sname);
            continue;
        }
        // The function that stands for a kernel: where it was called matters, not what it consists of.
        if (find_function(_Unwind_FindEnclosingFunction(reinterpret_cast<void *>(walk.addresses[i])))) {
            frames.clear();
            continue;
        }
        bool is_fixed = static_cast<const ElfW(Ehdr) *>(info.dli_fbase)->e_type == ET_EXEC;
        uintptr_t offset = walk.addresses[i] - (is_fixed ? 0 : reinterpret_cast<uintptr_t>(info.dli_fbase));
        char text[32];
        std::snprintf(text, sizeof text, "\t%lx\t", static_cast<unsigned long>(offset));
        frames += (object && *object->l_name ? object->l_name : executable_path()) + text;
        frames += std::string(info.dli_sname ? info.dli_sname : "") + "\n";
    }
    return frames;
}

void explain(const char *kind, std::string message) { explanation = {kind, std::move(message)}; }

void note_error(cudaError_t error) {
    Explanation why = std::move(explanation);
    explanation = {};
    bool is_sticky = error == sticky();
    // Every call fails after a sticky error: the first one says it.
    if ((is_sticky && sticky_is_noted.exchange(true)) || explained++ >= max_explained) return;
    std::string call;
    Frames walk = walk_frames();
    std::string frames = program_frames(walk, &call);
    if (call == "__cudaLaunchKernel") call = "cudaLaunchKernel";
    std::lock_guard lock(calls_mutex);
    auto [site, fresh] = sites.try_emplace({call, frames, error}, noted.size());
    if (!fresh) {
        report().count_call_error();
        return;
    }
    CallError entry;
    entry.id = static_cast<uint32_t>(noted.size());
    entry.code = error;
    entry.kind = why.kind ? why.kind : "";
    entry.message = is_sticky ? sticky_message() : std::move(why.message);
    entry.call = std::move(call);
    entry.frames = std::move(frames);
    noted.push_back({entry.id, error, this_thread(), false});
    report().add_call_error(std::move(entry));
    if (uses_result(walk)) mark_looked(noted.back());
}

void note_error_query() {
    std::lock_guard lock(calls_mutex);
    for (Noted &it : noted) {
        if (it.thread == this_thread()) mark_looked(it);
    }
}

void note_error_query(cudaError_t error) {
    std::lock_guard lock(calls_mutex);
    for (Noted &it : noted) {
        if (it.error == error) mark_looked(it);
    }
}

void note_result_query(int result) {
    std::lock_guard lock(calls_mutex);
    for (Noted &it : noted) {
        if (result_of(it.error) == result) mark_looked(it);
    }
}

void forget_call_errors() {
    std::lock_guard lock(calls_mutex);
    sites.clear();
    noted.clear();
    explained = 0;
    sticky_is_noted = false;
}

void watch_leaks(bool on) { leaks_are_watched = on; }

void note_allocation(uint64_t address) {
    if (!leaks_are_watched) return;
    std::string frames = program_frames(nullptr);
    std::lock_guard lock(calls_mutex);
    allocation_frames[address] = std::move(frames);
}

void note_release(uint64_t address) {
    if (!leaks_are_watched) return;
    std::lock_guard lock(calls_mutex);
    allocation_frames.erase(address);
}

namespace {

void report_leak(uint64_t address, const std::string &frames) {
    uint64_t size = 0;
    if (auto found = memory().find(address)) {
        report().add_leak({found->label, found->size(), frames});
    } else if (std::string label = virtual_memory().describe(address, &size); !label.empty()) {
        report().add_leak({label, size, frames});
    }
}

bool leaks_count() { return leaks_are_watched && !sticky(); }  // after a sticky error nothing can be freed

}  // namespace

void report_leaks() {
    std::lock_guard lock(calls_mutex);
    if (!leaks_count()) return;
    for (const auto &[address, frames] : allocation_frames) report_leak(address, frames);
}

void end_of_leak_check() {
    std::lock_guard lock(calls_mutex);
    std::erase_if(allocation_frames, [](const auto &it) {
        auto found = memory().find(it.first);
        if (found && leaks_count()) report_leak(it.first, it.second);
        return found != nullptr;
    });
}

std::string describe_address(uint64_t address) {
    if (!address) return "a null pointer";
    if (auto found = memory().find(address)) {
        uint64_t offset = address - found->begin;
        return offset ? "byte " + std::to_string(offset) + " of " + found->label : found->label;
    }
    if (std::string reason = virtual_memory().reason_against(address); !reason.empty()) return reason;
    if (std::string freed = memory().freed_label(address); !freed.empty()) return freed + ", which was freed";
    return memory().in_device_range(address) ? "an address in no allocation" : "memory of the host";
}

}  // namespace emu
