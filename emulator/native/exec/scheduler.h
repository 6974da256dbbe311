// Runs the blocks of a launch over a fixed set of threads, and the warps of a block in turn.
//
// A block stays with one thread. Blocks are started in order of their number; a thread starts a further one as well
// when those that it runs only spin, up to what the device would hold at a time (and no more than some memory), so that
// code in which blocks wait for each other goes on as on hardware. Blocks of a profiled launch that may take their work
// from each other run side by side, as on hardware: as many as the device would hold, each of which executes as much as
// the others. Warps go on until a barrier, or until their fuel is used up, of which a further look at the same memory
// that others may change takes more; a block whose turns end by looks gets shorter ones. Those of a profiled launch
// that are seen to wait look once at a time, and their block is not counted among those that execute.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "abi.h"
#include "exec/images.h"
#include "exec/memory.h"
#include "exec/observe.h"
#include "profile/counters.h"
#include "report/report.h"

namespace emu {

class ChildLaunches;
struct LaunchTree;

struct SchedulerLimits {
    uint64_t warp_instructions = 0;  // 0: none
    double wall_s = 0;               // of each thread, while it has a processor; 0: none
    bool shuffled = false;           // run warps in an order drawn from `seed`
    bool runs_ahead = false;         // and let none wait until the others have got as far as the first loop
    uint64_t seed = 0;
};

// One launch while it runs. The first error stays, and ends it.
struct Launch {
    explicit Launch(const EmuKernel *compiled) : kernel(compiled) {}

    const EmuKernel *kernel;
    uint32_t grid[3];
    const uint8_t *params;
    uint32_t dynamic_shared_bytes;
    bool cooperative;
    uint64_t grid_workspace;
    bool runs_ahead = false;      // see SchedulerLimits
    bool lanes_apart = false;     // see checks/lanes_apart.h
    uint32_t code_registers = 0;  // of a thread, by which blocks are resident; 0: not known
    std::shared_ptr<const MemoryView> memory;
    std::shared_ptr<const ImageView> images;

    uint32_t stack_bytes = 0;  // of a thread
    // Of an observed kernel: it has used what orders it with host code that runs beside it.
    bool meets_host = false;
    uint64_t seed = 0;  // of the schedule, from which undefined numbers follow too
    // The block, in the order in which they start, that stops after so many steps until the others have ended or only
    // wait, as hardware allows: that shows what those do which cannot go on without it. ~0: none.
    uint64_t late_block = ~uint64_t{0};
    uint32_t late_after = 0;

    // What it is within, where a kernel has launched it, and how many generations below the host's launch.
    LaunchTree *tree = nullptr;
    uint32_t generation = 0;
    uint64_t graph = 0;                       // the executable graph that it is a part of
    std::shared_ptr<ChildLaunches> children;  // see exec/child_launches.h; null: none

    uint32_t cluster[3] = {1, 1, 1};
    bool explicit_cluster = false;  // it was launched with clusters, though they may be of one block
    uint64_t blocks() const { return uint64_t{grid[0]} * grid[1] * grid[2]; }
    uint32_t cluster_size() const { return cluster[0] * cluster[1] * cluster[2]; }
    // What a thread runs as a whole: clusters, which are blocks where there are none.
    uint64_t clusters() const { return blocks() / cluster_size(); }
    uint32_t threads_per_block() const { return kernel->block[0] * kernel->block[1] * kernel->block[2]; }

    // Ends the launch at once.
    void stop(cudaError_t error, const std::string &message);
    // Lets the launch go on, but fail in the end.
    void doom(cudaError_t error, const std::string &message);
    bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
    // True once for each site and outcome: the first fault of a site is reported with its message, the rest are
    // counted.
    bool first_at(uint32_t site, cudaError_t outcome) {
        return !count_at(site, outcome).fetch_add(1, std::memory_order_relaxed);
    }
    void report_fault(uint32_t site, cudaError_t outcome, Fault fault);
    std::atomic<uint64_t> faults{0};
    // The site of a malloc() that returned null, and one more; 0 where none did.
    std::atomic<uint32_t> refused_malloc{0};
    // At the end: how often each happened.
    void report_counts();

    cudaError_t error = cudaSuccess;
    std::string message;
    std::atomic<uint64_t> instructions{0};
    std::atomic<uint64_t> next_block{0};
    std::atomic<bool> takes_turns{false};  // see BlockContext::give_way
    // Of an observed kernel, the blocks that have begun and not ended, on all threads.
    struct SideBySide {
        std::atomic<uint64_t> blocks{0}, executed{0};  // warp instructions of all of them

        uint64_t mean() const { return executed / std::max<uint64_t>(1, blocks); }
        // A block that begins, as if it had executed as much as the others, which it returns.
        uint64_t add() {
            uint64_t of_others = mean();
            executed += of_others;
            ++blocks;
            return of_others;
        }
        void remove(uint64_t of_block) {
            executed -= of_block;
            --blocks;
        }
    } side_by_side;
    // Of an observed kernel.
    std::vector<std::unique_ptr<Observer>> observers;
    std::vector<uint64_t> tally;
    uint32_t registers = 0;                  // of a thread; 0: not known
    std::shared_ptr<LaunchProfile> profile;  // by the Profile, in the end
    void add_tally(const std::vector<uint64_t> &of_a_worker);

private:
    std::atomic<bool> stopped_{false};
    std::mutex mutex_;
    std::atomic<uint64_t> &count_at(uint32_t site, cudaError_t outcome) {
        return counts_[2 * site + (outcome != cudaSuccess)];
    }
    // For each site (one more is for barriers) how many faults that do no harm there were, and how many others.
    std::unique_ptr<std::atomic<uint64_t>[]> counts_ =
        std::make_unique<std::atomic<uint64_t>[]>(2 * (kernel->site_count + 1));
    struct FirstFault {
        uint32_t site;
        cudaError_t outcome;
        Fault fault;
    };
    std::vector<FirstFault> first_faults_;
};

// Creates the threads; call once, before threads are forbidden.
void start_threads(unsigned count);
void set_limits(const SchedulerLimits &limits);

// For how long a launch may have a processor, in seconds; 0: no limit.
double launch_limit_s();
// How long this thread has had one, without the time in which it made code.
double working_s();

// Runs it to its end on the calling thread and the others. One launch at a time.
void run(Launch &launch);

// While one of these lives, no launch runs.
class LaunchPause {
public:
    LaunchPause();

private:
    std::unique_lock<std::recursive_mutex> lock_;
};

}  // namespace emu
