#include "report/session.h"

#include <csignal>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>

#include "api/errors.h"
#include "api/stream_queue.h"
#include "checks/call_errors.h"
#include "exec/memory.h"
#include "exec/scheduler.h"
#include "report/journal.h"
#include "report/remote.h"
#include "report/report.h"

namespace emu {

namespace {

constexpr unsigned patience_s = 2;
// Host code that takes a device pointer for one of its own nearly always begins at the beginning.
constexpr uint64_t shield_reach = 64 << 10;

constinit std::string folder;  // empty: no session
EmuSettings settings;
std::atomic<bool> used{false};

std::string journal_path() { return folder + "/report-" + std::to_string(getpid()); }

// The report's lock is held across fork(), so that the child's is whole.
void before_fork() { report().lock(); }
void after_fork() { report().unlock(); }

void after_fork_in_child() {
    report().unlock();
    if (folder.empty()) return;
    if (!used) return journal().open(journal_path());
    journal().open("");
    folder.clear();
    poison(cudaErrorInitializationError, "CUDA was used before fork(): the child process cannot use it");
}

void give_up(int) {
    std::signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

// Tells what the host's code touched and where, before the signal does what it does without this. What is called here
// is not meant for signal handlers: should it wait for a lock that the code before held, give_up() ends that.
void on_crash(int signal, siginfo_t *info, void *) {
    std::signal(signal, SIG_DFL);
    std::signal(SIGALRM, give_up);
    alarm(patience_s);
    auto address = reinterpret_cast<uint64_t>(info->si_addr);
    bool is_fault = info->si_code > 0;  // and not a signal that some process sent
    std::string what = signal == SIGSEGV ? "SIGSEGV" : "SIGBUS";
    if (is_fault) what += " by an access to " + describe_address(address);
    if (memory().in_device_range(address)) what += ", which is for kernels and copies only";
    report().add_crash(what, program_frames(nullptr));
    alarm(0);
    if (!is_fault) raise(signal);
}

void watch_crashes() {
    for (int signal : {SIGSEGV, SIGBUS}) {
        struct sigaction action = {}, before = {};
        sigaction(signal, nullptr, &before);
        if (before.sa_handler != SIG_DFL) continue;
        action.sa_sigaction = on_crash;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        sigaction(signal, &action, nullptr);
    }
}

__attribute__((constructor)) void join_session() {
    const char *named = std::getenv("EMULATOR_SESSION");
    if (!named || !*named) return;
    std::ifstream file(std::string(named) + "/settings", std::ios::binary);
    if (!file.read(reinterpret_cast<char *>(&settings), sizeof settings)) return;
    folder = named;
    apply(settings);
    watch_leaks(true);
    memory().set_shield(true, shield_reach);
    journal().open(journal_path());
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
    watch_crashes();
}

// After the program's own destructors, which may free memory.
__attribute__((destructor)) void end_session() {
    if (folder.empty() || !used) return;
    // First: what nobody waits for begins by itself in time.
    size_t count = pending_work();
    report_leaks();
    if (count)
        report().add_unchecked("work of streams that had not begun when the program ended (" + std::to_string(count) +
                               "): it did not wait for them");
    report().end_regularly();
}

}  // namespace

const EmuCallbacks *session_callbacks() {
    static bool is_connected = false;
    if (!is_connected) {
        if (folder.empty()) {
            failure_reason() = "there is nobody to read the program's kernels: run it by `python -m emulator`";
            return nullptr;
        }
        if (!connect_remote(folder + "/socket")) {
            failure_reason() = "`python -m emulator` is gone";
            return nullptr;
        }
        // Only now: a program may fork before it first uses the device.
        start_threads(settings.threads);
        is_connected = true;
    }
    return &remote_callbacks;
}

bool in_session() { return !folder.empty(); }

bool modelled_time(uint64_t first, uint64_t last, double *seconds) {
    return !folder.empty() && settings.model_events && session_callbacks() && ask_modelled_time(first, last, seconds);
}

void leave_session() {
    if (folder.empty()) return;
    folder.clear();
    journal().open("");
    watch_leaks(false);
    memory().set_shield(false);
}

void note_device_use() {
    if (!used.load(std::memory_order_relaxed) && !used.exchange(true)) report().begin_use();
}

}  // namespace emu
