// What comes before what among the work that streams are given, and what the host has waited for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace emu {

// How many of the tasks of each stream (by its line) are known to be over.
using TaskClock = std::map<uint32_t, uint64_t>;

void join(TaskClock &into, const TaskClock &from);

// A piece of work of a stream, or a node of a graph while it runs.
struct Task {
    // The number of the stream that it was given to (0: it is the host's own), and its own number there, which the
    // nodes of a graph share.
    uint32_t line = 0;
    uint64_t number = 0;
    TaskClock before;  // what it comes after
    // The function that was called, and where (as program_frames() says); empty for a launch.
    std::string call, frames;
    // Of a node of a graph: which run of it, which node, and those that it comes after.
    uint64_t graph_run = 0;
    size_t node = 0;
    std::shared_ptr<const std::vector<bool>> behind;

    bool comes_after(const Task &other) const;
    bool is_within(const TaskClock &clock) const;
};

using TaskPointer = std::shared_ptr<const Task>;

// The task that this thread carries out; null outside of any.
const TaskPointer &current_task();

// The number of a run of a graph, or of launches that kernels make: see Task.
uint64_t next_graph_run();

// Makes `task` the current one for as long as it exists.
class CurrentTask {
public:
    explicit CurrentTask(TaskPointer task);
    ~CurrentTask();
    CurrentTask(const CurrentTask &) = delete;

private:
    TaskPointer before_;
};

}  // namespace emu
