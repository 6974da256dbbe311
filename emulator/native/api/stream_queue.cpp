#include "api/stream_queue.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "checks/host_accesses.h"
#include "checks/task_races.h"
#include "exec/observe.h"
#include "replay/host_clock.h"

namespace emu {

namespace {

// More than that would wait for nothing: the first goes on.
constexpr size_t max_pending = 256;

struct Pending {
    TaskPointer task;
    Work work;
};

// Processor time of the host, and time, after which work goes on by itself.
constexpr double patience_cpu_s = 0.02, patience_s = 0.5;
constexpr std::chrono::milliseconds tick{10};

uint64_t enqueued = 0;  // how much has been deferred so far

struct Queue {
    std::recursive_mutex mutex;
    std::list<Pending> pending;
    std::condition_variable_any has_pending;
    TaskClock known_to_host;
    std::atomic<size_t> waiting{0};  // the size of `pending`, for whoever must not wait for the mutex
    TaskClock given, heard;          // see host_goes_on() and host_hears(); empty when the host has waited for all
    uint64_t host_steps = 0;
};

// Made when it is first needed, which may be before other objects of the library are. Never destroyed: its thread still
// waits when the process ends.
Queue &queue() {
    static Queue *instance = new Queue;
    return *instance;
}

bool is_deferring = false, is_late = false;
uint64_t draws = 0;

// Those that come after no other one that is left.
std::vector<std::list<Pending>::iterator> ready(const TaskClock *within) {
    std::vector<std::list<Pending>::iterator> found;
    for (auto it = queue().pending.begin(); it != queue().pending.end(); ++it) {
        if (within && !it->task->is_within(*within)) continue;
        // Whatever it comes after was given before it.
        bool waits = std::any_of(queue().pending.begin(), it,
                                 [&](const Pending &other) { return it->task->comes_after(*other.task); });
        if (!waits) found.push_back(it);
    }
    return found;
}

double cpu_s() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Waits until the host has added nothing for a while, or nothing is left.
void wait_for_host(std::unique_lock<std::recursive_mutex> &lock) {
    uint64_t seen = 0;
    double cpu_then = 0;
    std::chrono::steady_clock::time_point then;
    while (!queue().pending.empty()) {
        auto now = std::chrono::steady_clock::now();
        if (seen != enqueued) {
            seen = enqueued;
            cpu_then = cpu_s();
            then = now;
        } else if (cpu_s() - cpu_then > patience_cpu_s ||
                   std::chrono::duration<double>(now - then).count() > patience_s) {
            return;
        }
        lock.unlock();
        std::this_thread::sleep_for(tick);
        lock.lock();
    }
}

void forget_given() {
    queue().given.clear();
    queue().heard.clear();
    host_accesses().stop();
}

cudaError_t carry_out(const TaskPointer &task, const Work &work) {
    CurrentTask current(task);
    return work();
}

void run(std::list<Pending>::iterator chosen) {
    Pending taken = std::move(*chosen);
    queue().pending.erase(chosen);
    --queue().waiting;
    carry_out(taken.task, taken.work);  // its error is the context's
}

// `clock` null: all.
void drain_within(const TaskClock *clock) {
    std::lock_guard lock(queue().mutex);
    for (;;) {
        bool is_done = std::none_of(queue().pending.begin(), queue().pending.end(),
                                    [&](const Pending &it) { return !clock || it.task->is_within(*clock); });
        if (is_done) return;
        // What nobody waits for yet may be carried out before, or is late.
        auto candidates = ready(is_late ? clock : nullptr);
        run(candidates[draw_next(candidates.size())]);
    }
}

}  // namespace

// What a profile counts is the same each time.
void start_queue_thread() {
    static std::once_flag once;
    std::call_once(once, [] {
        std::thread([] {
            for (std::unique_lock lock(queue().mutex);;) {
                queue().has_pending.wait(lock, [] { return !queue().pending.empty(); });
                wait_for_host(lock);
                drain();
            }
        }).detach();
    });
}

bool defers_work() { return is_deferring && !observe_settings().profile; }

cudaError_t enqueue(TaskPointer task, Work work) {
    std::lock_guard lock(queue().mutex);
    if (!defers_work()) return carry_out(task, work);
    queue().pending.push_back({std::move(task), std::move(work)});
    ++queue().waiting;
    ++enqueued;
    queue().has_pending.notify_one();
    if (queue().pending.size() > max_pending) run(queue().pending.begin());
    return cudaSuccess;
}

size_t pending_work() { return queue().waiting; }

void drain(const TaskClock &clock) { drain_within(&clock); }

void drain() { drain_within(nullptr); }

size_t draw_next(size_t count) {
    if (is_late) return count - 1;
    uint64_t z = draws += 0x9e3779b97f4a7c15;  // SplitMix64, as the scheduler
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (z ^ z >> 31) % count;
}

void seed_queue(bool defers, bool late, uint64_t seed) {
    std::lock_guard lock(queue().mutex);
    drain();
    is_deferring = defers;
    is_late = late;
    draws = seed;
}

void note_host_accesses() {
    HostAccesses::Noted noted = host_accesses().take();
    if (noted.accesses.empty()) return;
    std::lock_guard lock(queue().mutex);
    Task task;
    task.number = queue().known_to_host[task.line] = ++queue().host_steps;
    task.before = queue().known_to_host;
    join(task.before, queue().heard);
    task.call = "the host";
    task_races().add(task, noted);
}

void host_goes_on(const Task &task) {
    if (!observe_settings().check_full) return;
    std::lock_guard lock(queue().mutex);
    join(queue().given, {{task.line, task.number}});
    if (defers_work()) host_accesses().watch_all();
    host_accesses().follow();
}

void host_hears(const TaskClock &clock) {
    std::lock_guard lock(queue().mutex);
    join(queue().heard, clock);
}

TaskClock host_clock() {
    std::lock_guard lock(queue().mutex);
    return queue().known_to_host;
}

void host_waits(const TaskClock &clock) {
    std::lock_guard lock(queue().mutex);
    note_host_accesses();
    drain(clock);
    join(queue().known_to_host, clock);
    auto is_over = [&](const auto &given) {
        auto known = queue().known_to_host.find(given.first);
        return known != queue().known_to_host.end() && known->second >= given.second;
    };
    if (std::all_of(queue().given.begin(), queue().given.end(), is_over)) forget_given();
    note_device_busy(false);
}

void host_waits() {
    std::lock_guard lock(queue().mutex);
    note_host_accesses();
    drain();
    queue().known_to_host.clear();
    forget_given();
    note_device_busy(false);
    task_races().forget();
}

}  // namespace emu
