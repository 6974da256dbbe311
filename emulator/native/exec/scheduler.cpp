#include "exec/scheduler.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <latch>
#include <new>
#include <numeric>

#include "api/device_model.h"
#include "api/modules.h"
#include "api/stream_queue.h"
#include "exec/block.h"
#include "exec/thread_team.h"
#include "report/report.h"
#include "report/symbol_names.h"
#include "report/thread_locations.h"

namespace emu {

namespace {

using SteadyClock = std::chrono::steady_clock;

// Seconds for which this thread has had a processor: how busy the machine is makes no difference.
double thread_s() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

ThreadTeam &team() {
    static ThreadTeam *instance = new ThreadTeam;
    return *instance;
}

SchedulerLimits limits;
std::recursive_mutex launch_mutex;

// Blocks that run side by side, so that they share their work fairly or wait for each other, take no more memory than
// this, unless they were launched together.
constexpr size_t max_side_by_side_bytes = 512 << 20;
// Rounds in which a thread's blocks only wait, after which it starts further ones, though other threads' blocks still
// work.
constexpr unsigned waiting_rounds = 4096;

// The blocks that one thread runs at a time.
class Worker {
public:
    Worker(Launch &launch, size_t max_resident, size_t max_side_by_side, uint64_t resident_in_all)
        : launch_(launch),
          max_resident_(max_resident),
          max_side_by_side_(max_side_by_side),
          resident_in_all_(resident_in_all),
          ends_s_(working_s() + limits.wall_s),
          site_cache_(2 * size_t{launch.kernel->site_count}),
          tally_(launch.kernel->observed ? 2 * size_t{launch.kernel->block_count} : 0) {
        uint64_t share = launch.clusters() / 64;
        // Observers may have to keep what a block did until those before it have ended.
        bool one_by_one = launch.cooperative || !launch.observers.empty() || limits.shuffled;
        chunk_ = one_by_one ? 1 : std::clamp<uint64_t>(share, 1, 16);
    }

    void run() {
        unsigned idle_rounds = 0;
        while (!launch_.stopped()) {
            if (resident_.empty() && !start_block()) break;
            bool finished_any = false, advanced_any = false, worked_any = false;
            uint64_t fair =
                launch_.takes_turns.load(std::memory_order_relaxed) ? launch_.side_by_side.mean() : ~uint64_t{0};
            for (size_t i = 0; i < resident_.size() && !launch_.stopped();) {
                // Those that are ahead let the others catch up, but for those that wait.
                bool is_ahead = !resident_[i].only_waits && resident_[i].executed > fair;
                if (is_ahead || &resident_[i] == late()) {
                    ++i;
                    continue;
                }
                BlockContext &block = *resident_[i].block;
                Progress progress = block.advance(limits);
                advanced_any = true;
                count_executed(resident_[i], block.unreported_instructions);
                worked_any |= !resident_[i].only_waits;
                settle(block);
                if (progress == Progress::deadlock) {
                    launch_.stop(cudaErrorLaunchTimeout, report_deadlock(block.stuck()));
                } else if (progress == Progress::gave_way) {
                    start_beside(block);
                } else if (progress == Progress::finished) {
                    finished_any = true;
                    // Its memory serves the next block at once, which keeps it in the cache.
                    if (resident_.size() == 1 + size_t{late() != nullptr} && restart(resident_[i])) continue;
                    if (launch_.kernel->observed && !resident_[i].only_waits)
                        launch_.side_by_side.remove(resident_[i].executed);
                    spare_.push_back(std::move(resident_[i].block));
                    resident_.erase(resident_.begin() + static_cast<long>(i));
                    continue;
                }
                ++i;
            }
            if (!advanced_any) {
                // The late one goes on when all others have ended; else the other threads' blocks are to catch up.
                if (late() && !start_block()) release_late();
                std::this_thread::yield();
                continue;
            }
            idle_rounds = finished_any ? 0 : idle_rounds + weight_of_round(worked_any);
            if (launch_.cooperative || idle_rounds >= waiting_rounds) {
                if (!start_more()) release_late();
                idle_rounds = 0;
            }
        }
        for (auto &it : resident_) {
            settle(*it.block);
            it.block->hand_over_tallies();
        }
        launch_.add_tally(tally_);
    }

private:
    // Blocks that work may be waited for, on any thread; where none does, it must be for one that has not begun. Rounds
    // in which all of the thread's blocks look once and wait on are short.
    unsigned weight_of_round(bool worked) const {
        if (worked) return waiting_rounds / 2;
        if (!launch_.side_by_side.blocks) return waiting_rounds / 8;
        std::this_thread::yield();
        return 1;
    }

    // `executed` counts warp instructions, from what the others had when it began.
    struct Resident {
        std::unique_ptr<BlockContext> block;
        uint64_t executed;
        bool only_waits;
        bool is_late = false;  // see Launch::late_block
    };

    // The late block, once it has made its first steps.
    const Resident *late() const {
        for (const Resident &it : resident_) {
            if (it.is_late && !it.block->stops_after) return &it;
        }
        return nullptr;
    }

    void release_late() {
        for (Resident &it : resident_) it.is_late = false;
    }

    void begin(Resident &it, uint64_t number) {
        it.is_late = taken_ == launch_.late_block;
        it.block->stops_after = it.is_late ? launch_.late_after : 0;
        it.block->start(number);
    }

    // What a block does that only waits is not counted: it has no part in who is ahead, until it works again.
    void count_executed(Resident &it, uint64_t instructions) {
        if (!launch_.kernel->observed) return;
        bool only_waits = it.block->only_waits();
        if (only_waits && !it.only_waits) launch_.side_by_side.remove(it.executed);
        if (!only_waits && it.only_waits) it.executed = launch_.side_by_side.add();
        it.only_waits = only_waits;
        if (only_waits) return;
        it.executed += instructions;
        launch_.side_by_side.executed += instructions;
    }

    bool take_number(uint64_t *number) {
        if (next_ == end_) {
            next_ = launch_.next_block.fetch_add(chunk_);
            end_ = std::min(next_ + chunk_, launch_.clusters());
            if (next_ >= end_) {
                next_ = end_;
                return false;
            }
        }
        taken_ = next_++;
        *number = limits.shuffled ? shuffled(taken_) : taken_;
        return true;
    }

    // Another order of blocks, but only of as many as run at a time: those that wait for earlier ones, which hardware
    // starts first, still find them.
    uint64_t shuffled(uint64_t number) const {
        uint64_t first = number / resident_in_all_ * resident_in_all_;
        uint64_t count = std::min(resident_in_all_, launch_.clusters() - first);
        uint64_t draw = (limits.seed + first + 1) * 0x9e3779b97f4a7c15, step = draw >> 40;
        while (std::gcd(step, count) != 1) ++step;
        return first + ((number - first) * step + (draw & 0xffffff)) % count;
    }

    bool restart(Resident &ended) {
        uint64_t number;
        if (!take_number(&number)) return false;
        begin(ended, number);
        return true;
    }

    bool start_block() {
        uint64_t number;
        if (!take_number(&number)) return false;
        if (spare_.empty()) {
            spare_.push_back(std::make_unique<BlockContext>(launch_, site_cache_.data(), tally_.data()));
        }
        resident_.push_back(
            {std::move(spare_.back()), launch_.kernel->observed ? launch_.side_by_side.add() : 0, false});
        spare_.pop_back();
        begin(resident_.back(), number);
        return true;
    }

    // Returns the number of blocks that the device holds while others wait for one of them to end; 0 if none waits.
    uint64_t most_at_once() const {
        bool is_full = resident_.size() >= max_resident_ && launch_.next_block < launch_.clusters();
        return is_full && !launch_.cooperative ? resident_in_all_ : 0;
    }

    bool has_memory_for_more(const BlockContext &block) const {
        return launch_.cooperative ||
               (resident_.size() + 1) * block.memory_bytes() * team().size() <= max_side_by_side_bytes;
    }

    void start_beside(const BlockContext &block) {
        if (resident_.size() < max_side_by_side_ && has_memory_for_more(block)) start_block();
    }

    // Those that run may wait for one that has not started: returns whether one was. Twice as many each time: blocks
    // that only compute pay little for it, and blocks that wait are not polled long.
    bool start_more() {
        size_t before = resident_.size();
        size_t wanted = launch_.cooperative ? max_resident_ : std::min(max_resident_, 2 * resident_.size());
        while (!resident_.empty() && resident_.size() < wanted && has_memory_for_more(*resident_.front().block) &&
               start_block()) {}
        return resident_.size() > before;
    }

    // Adds up what the block did, and looks at the limits.
    void settle(BlockContext &block) {
        pending_ += block.unreported_instructions;
        block.unreported_instructions = 0;
        // Small blocks come by the million: neither the sum nor the clock is looked at for each.
        if (pending_ < 1 << 14 && !launch_.stopped() && ++unsettled_ < 64) return;
        flush();
        if (limits.warp_instructions && launch_.instructions > limits.warp_instructions && !launch_.stopped()) {
            report().set_limit("instructions");
            std::string reason =
                "it was stopped after " + std::to_string(limits.warp_instructions) + " warp instructions";
            launch_.stop(cudaErrorLaunchTimeout, report_endless_loop(block, reason, most_at_once()));
        }
        if (limits.wall_s > 0 && !launch_.stopped() && working_s() > ends_s_) {
            report().set_limit("wall");
            char seconds[32];
            std::snprintf(seconds, sizeof seconds, "%g", limits.wall_s);
            launch_.stop(
                cudaErrorLaunchTimeout,
                report_endless_loop(block, std::string("it was stopped after ") + seconds + " s", most_at_once()));
        }
    }

public:
    void flush() {
        launch_.instructions += pending_;
        const EmuKernel &kernel = *launch_.kernel;
        if (kernel.hot_after) {
            uint64_t before = kernel.work.fetch_add(pending_, std::memory_order_relaxed);
            bool becomes_hot = before < kernel.hot_after && before + pending_ >= kernel.hot_after;
            if (becomes_hot) make_code(kernel, EMU_WANT_BETTER);
        }
        pending_ = 0;
        unsettled_ = 0;
    }

private:
    Launch &launch_;
    size_t max_resident_, max_side_by_side_;
    uint64_t resident_in_all_;
    double ends_s_;  // by working_s()
    std::vector<uint64_t> site_cache_, tally_;
    std::vector<Resident> resident_;
    std::vector<std::unique_ptr<BlockContext>> spare_;
    uint64_t chunk_, next_ = 0, end_ = 0, taken_ = 0;
    uint64_t pending_ = 0;
    unsigned unsettled_ = 0;
};

}  // namespace

double launch_limit_s() { return limits.wall_s; }

// Less what it took to make code that its warps waited for.
double working_s() { return thread_s() - time_of_making_code_s(); }

void Launch::stop(cudaError_t code, const std::string &text) {
    doom(code, text);
    stopped_ = true;
}

void Launch::doom(cudaError_t code, const std::string &text) {
    std::lock_guard lock(mutex_);
    if (error) return;
    error = code;
    message = text;
}

void Launch::report_fault(uint32_t site, cudaError_t outcome, Fault fault) {
    std::lock_guard lock(mutex_);
    report().add_fault(fault);
    first_faults_.push_back({site, outcome, std::move(fault)});
}

void Launch::report_counts() {
    report().count_faults(faults);
    for (FirstFault &it : first_faults_) {
        it.fault.count = count_at(it.site, it.outcome) - 1;
        if (it.fault.count) report().add_fault(std::move(it.fault));
    }
}

void Launch::add_tally(const std::vector<uint64_t> &of_a_worker) {
    std::lock_guard lock(mutex_);
    tally.resize(of_a_worker.size());
    for (size_t i = 0; i < tally.size(); ++i) tally[i] += of_a_worker[i];
}

void start_threads(unsigned count) {
    start_queue_thread();
    LaunchPause pause;
    team().start(std::max(1u, count));
}

void set_limits(const SchedulerLimits &given) {
    LaunchPause pause;
    limits = given;
}

void run(Launch &launch) {
    LaunchPause pause;
    launch.runs_ahead = limits.runs_ahead;
    if (launch.kernel->observed) launch.observers = make_observers(launch);
    launch.seed = limits.seed;
    if (limits.shuffled && launch.observers.empty() && !launch.cooperative && launch.cluster_size() == 1) {
        uint64_t draw = (limits.seed + 1) * 0x9e3779b97f4a7c15;
        // Mostly the first one: where blocks wait for those before them, all do.
        launch.late_block = draw >> 62 ? 0 : (draw >> 16) % launch.clusters();
        launch.late_after = 2 + (draw >> 8) % 4;
    }
    report().begin_launch(readable_name(launch.kernel->name));
    auto begin = SteadyClock::now();
    size_t shared = launch.kernel->shared_bytes - launch.kernel->reserved_shared_bytes + launch.dynamic_shared_bytes;
    uint64_t fitting = static_cast<uint64_t>(std::max(
        1, device_model::resident_blocks(static_cast<int>(launch.threads_per_block()), shared, launch.code_registers)));
    uint64_t resident = static_cast<uint64_t>(device_model::size().multiprocessors) * fitting;
    resident = std::max<uint64_t>(1, resident / launch.cluster_size());
    uint64_t side_by_side = std::min(resident, launch.clusters());
    unsigned threads = static_cast<unsigned>(std::min<uint64_t>(team().size(), launch.clusters()));
    // The order in which the full checks see accesses is the same each time, and what they keep needs no locks.
    if (launch.kernel->observed && observe_settings().check_full) threads = 1;
    auto share_of = [threads](uint64_t blocks) { return static_cast<size_t>((blocks + threads - 1) / threads); };
    std::latch begun(threads);
    team().run(threads - 1, [&] {
        // Blocks of a thread that comes late would find that the others' have taken all the work there is.
        if (launch.kernel->observed) begun.arrive_and_wait();
        try {
            Worker worker(launch, share_of(resident), share_of(side_by_side), resident);
            worker.run();
            worker.flush();
        } catch (const std::bad_alloc &) {
            launch.stop(cudaErrorMemoryAllocation, "no memory for the registers and shared memory of the blocks");
        }
    });
    for (auto &observer : launch.observers) observer->finish(launch);
    double wall_s = std::chrono::duration<double>(SteadyClock::now() - begin).count();
    LaunchRecord record{readable_name(launch.kernel->name), {}, {}, launch.instructions, wall_s, {}};
    std::copy_n(launch.grid, 3, record.grid);
    std::copy_n(launch.kernel->block, 3, record.block);
    if (launch.profile) record.profiles.push_back(*launch.profile);
    report().add_launch(std::move(record));
    launch.report_counts();
}

LaunchPause::LaunchPause() : lock_(launch_mutex) {}

}  // namespace emu
