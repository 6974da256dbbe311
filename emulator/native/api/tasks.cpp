#include "api/tasks.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace emu {

namespace {

TaskPointer &current() {
    static thread_local TaskPointer task;
    return task;
}

}  // namespace

void join(TaskClock &into, const TaskClock &from) {
    for (auto [line, count] : from) {
        uint64_t &known = into[line];
        known = std::max(known, count);
    }
}

bool Task::is_within(const TaskClock &clock) const {
    auto found = clock.find(line);
    return found != clock.end() && found->second >= number;
}

bool Task::comes_after(const Task &other) const {
    if (graph_run && graph_run == other.graph_run && node == other.node) return true;
    if (graph_run && graph_run == other.graph_run) return other.node < behind->size() && (*behind)[other.node];
    return other.is_within(before);
}

uint64_t next_graph_run() {
    static std::atomic<uint64_t> runs{0};
    return ++runs;
}

const TaskPointer &current_task() { return current(); }

CurrentTask::CurrentTask(TaskPointer task) : before_(std::exchange(current(), std::move(task))) {}

CurrentTask::~CurrentTask() { current() = std::move(before_); }

}  // namespace emu
