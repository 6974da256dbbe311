#include "replay/host_clock.h"

#include <atomic>
#include <cstdint>
#include <ctime>
#include <utility>

#include "host.h"
#include "replay/recording.h"

namespace emu {

namespace {

// Of all threads, since the process began.
std::atomic<uint64_t> alone_ns{0}, overlapped_ns{0};
std::atomic<bool> is_busy{false};

struct ThreadClock {
    unsigned depth = 0;  // of calls within calls
    uint64_t left = 0;   // the last call; 0: there was none
};

thread_local ThreadClock clock_of_thread;
thread_local unsigned host_functions = 0;  // that run

uint64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Counts what the program has done since the last call.
void count(std::atomic<uint64_t> &into) {
    ThreadClock &clock = clock_of_thread;
    uint64_t now = now_ns();
    if (clock.left) into += now - clock.left;
    clock.left = now;
}

}  // namespace

RuntimeCall::RuntimeCall() : counts_(recording().is_on()) {
    if (counts_ && !clock_of_thread.depth++) count(is_busy ? overlapped_ns : alone_ns);
}

RuntimeCall::~RuntimeCall() {
    if (counts_ && !--clock_of_thread.depth) clock_of_thread.left = now_ns();
}

// What it does delays the work behind it in its stream: the device does not go on beside it.
HostFunction::HostFunction() : depth_(std::exchange(clock_of_thread.depth, 0)) {
    ++host_functions;
    if (depth_) clock_of_thread.left = now_ns();
}

HostFunction::~HostFunction() {
    --host_functions;
    if (depth_) count(alone_ns);
    clock_of_thread.depth = depth_;
}

bool HostFunction::is_running() { return host_functions != 0; }

void note_device_busy(bool busy) { is_busy.store(busy, std::memory_order_relaxed); }

}  // namespace emu

using namespace emu;

// What this thread does from now on is the program's. What it did since the last call of the runtime counts, too: a
// program may call this itself. Returns the processor time of the program so far, as the next function does.
EMU_HOST void emu_host_begins(uint64_t *alone, uint64_t *overlapped) {
    count(alone_ns);
    *alone = alone_ns;
    *overlapped = overlapped_ns;
}

// The processor time that the program has taken so far, up to the last call of the runtime: what it does after that
// changes nothing on the device.
EMU_HOST void emu_host_clock(uint64_t *alone, uint64_t *overlapped) {
    *alone = alone_ns;
    *overlapped = overlapped_ns;
}

// Notes what a call of the program took.
EMU_HOST void emu_recording_host(uint64_t alone, uint64_t overlapped) { recording().add(HostStep{alone, overlapped}); }
