// Dynamic parallelism: launches, copies and fills that kernels ask for, with the streams and events that order them.
//
// None of them begins before the grid that asked for it has ended. Then they run one after another, each with all that
// it asks for in turn, in an order that their streams and events allow; tail launches come last. A grid that was
// tail-launched counts as deep as the one that launched it, so that programs may loop that way for ever.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "abi.h"
#include "api/streams.h"
#include "checks/child_races.h"
#include "exec/launch.h"
#include "report/report.h"

namespace emu {

struct Launch;
struct LaunchTree;

// Streams that every grid has, as cuda_device_runtime_api.h numbers them, and those of graphs.
enum GridStream : uint64_t {
    last_default_stream = 2,
    tail_stream = 3,
    free_stream = 4,
    graph_tail_stream = 1ull << 56,
    graph_free_stream = 2ull << 56,
    graph_sibling_stream = 3ull << 56,
};

// One lane of a warp that calls the device runtime.
struct Caller {
    WarpContext *warp;
    uint32_t site, lane;

    uint64_t block() const;   // its number in the grid
    uint64_t thread() const;  // its number in the grid
};

class ChildLaunches {
public:
    // How many generations below the grid that the host launched there may be.
    static constexpr uint32_t most_generations = 24;
    // Stands for the memory of a block where its address is passed to a child: nothing lies there.
    static constexpr uint64_t foreign_window = 0x6a00'0000'0000, foreign_window_bytes = 1ull << 40;

    explicit ChildLaunches(const Launch &parent);

    // Memory for the parameters; 0, with the lane's error, where the launch cannot be made.
    uint64_t parameter_buffer(const Caller &by, uint64_t kernel, const LaunchShape &shape);
    cudaError_t launch(const Caller &by, uint64_t buffer, uint64_t stream);
    // Work of a stream other than a kernel; `call` names it.
    cudaError_t submit(const Caller &by, uint64_t stream, const char *call, Work work);

    uint64_t create_stream();
    bool destroy_stream(uint64_t stream);
    uint64_t create_event();
    bool destroy_event(uint64_t event);
    cudaError_t record(const Caller &by, uint64_t event, uint64_t stream);
    cudaError_t wait(const Caller &by, uint64_t stream, uint64_t event);

    // A lane's last error. The report has those that nobody asks for.
    cudaError_t fail(const Caller &by, cudaError_t error, const std::string &why);
    cudaError_t last_error(const Caller &by, bool clear);

    // After the parent has ended.
    cudaError_t run();
    // Of the parent, for the check of races between it and its children; null where there is none.
    std::shared_ptr<ParentAccesses> accesses;

private:
    // Memory for parameters.
    struct Buffer {
        explicit Buffer(uint64_t at) : address(at) {}
        ~Buffer();
        Buffer(const Buffer &) = delete;

        const uint64_t address;
    };
    struct Prepared {
        uint64_t kernel = 0, size = 0;
        LaunchShape shape;
        std::string name;
        std::shared_ptr<Buffer> buffer;
    };
    struct Child {
        Work work;
        uint64_t block;
        std::vector<size_t> after;  // others of the same parent
        std::string call;           // empty: a kernel
        std::shared_ptr<LaunchPoint> point;
        // Once it has begun: its place among the work of the whole tree, that behind all of its own, and what it came
        // after.
        size_t place = 0, end = 0;
        std::shared_ptr<const std::vector<bool>> behind = {};
    };
    struct Failure {
        cudaError_t error = cudaSuccess;
        Fault fault;
        bool is_known = false;  // the thread has asked
    };
    using Frontier = std::vector<size_t>;

    cudaError_t add(const Caller &by, uint64_t stream, Child child);
    // Null for a handle that is none.
    Frontier *frontier_of(const Caller &by, uint64_t stream);
    cudaError_t run_all();
    cudaError_t run_child(Child &child);
    cudaError_t run_tails();
    std::shared_ptr<std::vector<bool>> behind_of(const Child &child) const;
    void report_failures();

    friend struct LaunchTree;
    const Launch &parent_;
    std::shared_ptr<std::atomic<size_t>> waiting_;  // launches of the whole tree that have not begun
    std::mutex mutex_;
    std::map<uint64_t, Prepared> prepared_;
    std::deque<Child> children_, tails_;
    std::map<uint64_t, Frontier> streams_, events_, default_streams_;  // the last by block
    std::map<uint64_t, Failure> failures_;                             // by thread
};

// Those of a launch, made when a kernel first asks for something.
ChildLaunches &child_launches(Launch &launch);

// The launch that the host has made, with all that it has led to, while this thread runs such launches; else null.
LaunchTree *launch_tree();
// The launches of the tree that have not begun, of which there are none without a tree.
std::shared_ptr<std::atomic<size_t>> waiting_in(const LaunchTree *tree);
// How many generations below the host's launch is what runs now.
uint32_t generation(const LaunchTree *tree);

}  // namespace emu
