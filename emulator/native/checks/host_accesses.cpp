#include "checks/host_accesses.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "exec/memory.h"
#include "exec/round_up.h"
#include "replay/host_clock.h"

namespace emu {

namespace {

constexpr uint64_t page_bytes = 4096;
constexpr uint8_t most_hits = 64;  // of one page
constexpr size_t max_pages = 64 << 10, max_accesses = 8 << 10, max_sites = 256;
constexpr uint32_t no_site = ~uint32_t{0};
constexpr greg_t single_step = 0x100;  // of the flags
constexpr greg_t of_write = 2;         // of the error code of a page fault

// The pages that are open for the current instruction of this thread.
struct OpenPages {
    static constexpr unsigned most = 4;
    uint64_t pages[most];
    unsigned count = 0;
    // The last address at which this thread faulted though it should not, and how often pages had been opened then.
    uint64_t retried = 0, openings_then = 0;
};
thread_local OpenPages open_pages;

struct sigaction fault_before, trap_before;

// What the signal does without this: the instruction is executed once more.
void pass_signal_on(int signal, const struct sigaction &before, bool is_sent) {
    sigaction(signal, &before, nullptr);
    if (is_sent) raise(signal);
}

void on_host_fault(int signal, siginfo_t *info, void *context) {
    auto *registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
    bool is_fault = info->si_code > 0, steps = false;
    uint64_t address = reinterpret_cast<uint64_t>(info->si_addr);
    uint64_t instruction = static_cast<uint64_t>(registers[REG_RIP]);
    if (!is_fault || !host_accesses().note(address, instruction, registers[REG_ERR] & of_write, &steps)) {
        return pass_signal_on(signal, fault_before, !is_fault);
    }
    if (steps) registers[REG_EFL] |= single_step;
}

void on_host_step(int signal, siginfo_t *info, void *context) {
    if (!host_accesses().end_step())
        return pass_signal_on(signal, trap_before, info->si_code <= 0 || info->si_code == SI_KERNEL);
    static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_EFL] &= ~single_step;
}

// Whether faults come here. A program that has handlers of its own keeps them.
bool handles_faults() {
    static bool is_installed = [] {
        walk_frames();  // the first walk loads what later ones need
        struct sigaction action = {};
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        action.sa_sigaction = on_host_step;
        sigaction(SIGTRAP, &action, &trap_before);
        action.sa_sigaction = on_host_fault;
        sigaction(SIGSEGV, &action, &fault_before);
        return true;
    }();
    struct sigaction now = {};
    sigaction(SIGSEGV, nullptr, &now);
    return is_installed && now.sa_sigaction == on_host_fault;
}

}  // namespace

class HostAccesses::Lock {
public:
    explicit Lock(HostAccesses &of) : busy_(of.busy_) {
        while (busy_.test_and_set(std::memory_order_acquire)) {}
    }
    ~Lock() { busy_.clear(std::memory_order_release); }
    Lock(const Lock &) = delete;

private:
    std::atomic_flag &busy_;
};

void HostAccesses::watch(uint64_t page, bool writes) {
    Lock lock(*this);
    if (pages_.size() >= max_pages) return;
    protect(false);
    pages_.push_back({page, writes, 0});
    is_sorted_ = false;
}

void HostAccesses::watch_all() {
    auto view = memory().view();
    Lock lock(*this);
    if (view == watched_) return;
    watched_ = view;
    protect(false);
    for (const auto &allocation : view->all()) {
        if (!shared_with_host(allocation->kind)) continue;
        // The rest of a page of registered memory is the host's own.
        bool is_registered = allocation->kind == MemoryKind::registered_host;
        uint64_t begin = is_registered ? round_up(allocation->begin, page_bytes) : allocation->begin;
        uint64_t end = is_registered ? allocation->end : round_up(allocation->end, page_bytes);
        for (uint64_t page = begin / page_bytes; page < end / page_bytes && pages_.size() < max_pages; ++page) {
            pages_.push_back({page, true, 0});
        }
    }
    is_sorted_ = false;
}

void HostAccesses::follow() {
    Lock lock(*this);
    if (pages_.empty()) return;
    follows_ = true;
    protect(!is_paused_);
}

void HostAccesses::stop() {
    Lock lock(*this);
    protect(false);
    follows_ = false;
    pages_.clear();
    is_sorted_ = true;
    watched_ = nullptr;
}

HostAccesses::Noted HostAccesses::take() {
    Lock lock(*this);
    return std::exchange(noted_, {});
}

void HostAccesses::forget(uint64_t address, uint64_t size) {
    Lock lock(*this);
    bool was_protected = is_protected_;
    protect(false);
    auto is_gone = [&](const Page &page) {
        return page.number >= address / page_bytes && page.number * page_bytes < address + size;
    };
    watched_ = nullptr;
    pages_.erase(std::remove_if(pages_.begin(), pages_.end(), is_gone), pages_.end());
    protect(was_protected);
}

void HostAccesses::pause() {
    Lock lock(*this);
    is_paused_ = true;
    protect(false);
}

void HostAccesses::resume() {
    Lock lock(*this);
    is_paused_ = false;
    protect(follows_);
}

// Pages that were watched before keep what is known of them.
void HostAccesses::sort_pages() {
    if (is_sorted_) return;
    std::stable_sort(pages_.begin(), pages_.end(), [](const Page &a, const Page &b) { return a.number < b.number; });
    size_t kept = 0;
    for (const Page &page : pages_) {
        if (kept && pages_[kept - 1].number == page.number) {
            pages_[kept - 1].writes |= page.writes;
        } else {
            pages_[kept++] = page;
        }
    }
    pages_.resize(kept);
    is_sorted_ = true;
}

void HostAccesses::protect(bool on) {
    if (on == is_protected_ || (on && !handles_faults())) return;
    if (on) sort_pages();
    is_protected_ = on;
    if (!on) ++openings_;
    for (size_t first = 0; first < pages_.size();) {
        const Page &page = pages_[first];
        size_t last = first + 1;
        auto is_alike = [&](const Page &other) {
            return other.number == page.number + (last - first) && other.hits < most_hits &&
                   other.writes == page.writes;
        };
        if (page.hits < most_hits) {
            while (last < pages_.size() && is_alike(pages_[last])) ++last;
            int allowed = !on ? PROT_READ | PROT_WRITE : page.writes ? PROT_NONE : PROT_READ;
            mprotect(reinterpret_cast<void *>(page.number * page_bytes), (last - first) * page_bytes, allowed);
        }
        first = last;
    }
}

HostAccesses::Page *HostAccesses::find(uint64_t number) {
    auto at = std::lower_bound(pages_.begin(), pages_.end(), number,
                               [](const Page &page, uint64_t it) { return page.number < it; });
    return at != pages_.end() && at->number == number ? &*at : nullptr;
}

uint32_t HostAccesses::site_of(uint64_t instruction) const {
    for (size_t i = noted_.sites.size(); i--;) {
        if (noted_.sites[i].instruction == instruction) return static_cast<uint32_t>(i);
    }
    return no_site;
}

bool HostAccesses::note(uint64_t address, uint64_t instruction, bool writes, bool *steps) {
    uint64_t number = address / page_bytes;
    bool is_of_host = !HostFunction::is_running();
    bool is_known;
    {
        Lock lock(*this);
        Page *page = is_sorted_ ? find(number) : nullptr;
        if (!page || !is_protected_ || page->hits == most_hits) {
            // Another thread has opened it since the fault, or something else is wrong with it: then the same access
            // faults again though nothing was opened between.
            bool may_pass = open_pages.retried != address || open_pages.openings_then != openings_;
            open_pages.retried = address;
            open_pages.openings_then = openings_;
            return may_pass;
        }
        is_known = !is_of_host || site_of(instruction) != no_site || noted_.sites.size() == max_sites;
    }
    Site site{instruction, {}};
    if (!is_known) site.frames = walk_frames();
    Lock lock(*this);
    Page *page = find(number);
    if (!page || !is_protected_) return true;
    if (is_of_host && noted_.accesses.size() < max_accesses) {
        if (!is_known) noted_.sites.push_back(site);
        uint32_t at = site_of(instruction);
        if (at != no_site) noted_.accesses.push_back({address, at, writes});
    }
    mprotect(reinterpret_cast<void *>(number * page_bytes), page_bytes, PROT_READ | PROT_WRITE);
    if (page->hits < most_hits) ++page->hits;
    if (page->hits == most_hits || open_pages.count == OpenPages::most) {
        page->hits = most_hits;
        ++openings_;
    } else {
        open_pages.pages[open_pages.count++] = number;
    }
    *steps = open_pages.count != 0;
    return true;
}

bool HostAccesses::note_call(uint64_t address, uint64_t size, uint64_t caller, bool writes) {
    std::vector<uint64_t> touched;
    {
        Lock lock(*this);
        if (!is_protected_ || !size) return false;
        auto is_before = [](const Page &page, uint64_t number) { return page.number < number; };
        auto at = std::lower_bound(pages_.begin(), pages_.end(), address / page_bytes, is_before);
        for (; at != pages_.end() && at->number * page_bytes < address + size; ++at) {
            if (at->hits < most_hits && (writes || at->writes))
                touched.push_back(std::max(address, at->number * page_bytes));
        }
    }
    if (touched.empty()) return false;
    Site site{caller, {}};
    if (!HostFunction::is_running()) site.frames = walk_frames();
    Lock lock(*this);
    if (HostFunction::is_running()) return true;
    if (site_of(caller) == no_site && noted_.sites.size() < max_sites) noted_.sites.push_back(site);
    uint32_t number = site_of(caller);
    for (uint64_t each : touched) {
        if (number != no_site && noted_.accesses.size() < max_accesses)
            noted_.accesses.push_back({each, number, writes});
    }
    return true;
}

bool HostAccesses::end_step() {
    if (!open_pages.count) return false;
    Lock lock(*this);
    for (; open_pages.count; --open_pages.count) {
        Page *page = find(open_pages.pages[open_pages.count - 1]);
        if (!page || !is_protected_ || page->hits == most_hits) continue;
        mprotect(reinterpret_cast<void *>(page->number * page_bytes), page_bytes, page->writes ? PROT_NONE : PROT_READ);
    }
    return true;
}

HostAccesses &host_accesses() {
    static HostAccesses *instance = new HostAccesses;  // as the memory
    return *instance;
}

}  // namespace emu
