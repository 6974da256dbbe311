#include "exec/block.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "api/errors.h"
#include "api/modules.h"
#include "checks/lanes_apart.h"
#include "exec/memory.h"
#include "exec/round_up.h"
#include "exec/semantics.h"
#include "report/symbol_names.h"

using emu::Progress;
using emu::round_up;
using emu::Warp;

namespace {

// Loop heads until a warp gives way to others. Long enough that switching costs nothing, short enough for time limits.
constexpr int32_t fuel_per_turn = 4000;
// Warp instructions of a block's turn, where blocks take turns. Short beside what is worth sharing out, long enough
// that what the others have put into the CPU's caches matters little.
constexpr uint64_t instructions_per_turn = 2048;
// Shared memory is followed by this much, so that a read that strays a little stays within the block.
constexpr size_t shared_slack = 4096;

// SplitMix64 (Steele, Lea and Flood, 2014): made anew for each round of a block's warps, so it must begin at once.
struct Draw {
    uint64_t state;

    uint64_t operator()() {
        uint64_t z = state += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }
};

}  // namespace

BlockContext::BlockContext(emu::Launch &given, uint64_t *site_cache, uint64_t *tally, uint32_t rank, uint8_t *window)
    : launch(given), rank_(rank), tally_(tally) {
    const EmuKernel &kernel = *launch.kernel;
    uint32_t threads = launch.threads_per_block();
    warp_count_ = (threads + 31) / 32;
    tally_words_ = kernel.observed ? 2 * size_t{kernel.block_count} : 0;
    tallies_.resize(tally_words_ * warp_count_);
    may_give_way_ = warp_count_ > 1 && kernel.uses_barriers;
    shared_bytes_ = kernel.shared_bytes + launch.dynamic_shared_bytes;
    size_t registers = round_up(kernel.register_bytes, 64),
           local = (size_t{kernel.local_bytes} + launch.stack_bytes) * 32;
    bool is_in_cluster = launch.cluster_size() > 1;
    if (is_in_cluster && !window) {
        // Untouched pages cost nothing.
        window = windows_ = static_cast<uint8_t *>(
            ::operator new(emu::Cluster::window_stride * launch.cluster_size(), std::align_val_t{4096}));
    }
    size_t shared_room = is_in_cluster ? 0 : round_up(shared_bytes_ + shared_slack, 256);
    size_t warps_room = round_up(sizeof(Warp) * warp_count_, 256);
    memory_bytes_ = shared_room + warps_room + (registers + round_up(local, 64) + 256) * warp_count_;
    memory_ = static_cast<uint8_t *>(::operator new(memory_bytes_, std::align_val_t{256}));
    shared_ = is_in_cluster ? window : memory_;
    mbarrier_waits_.resize(warp_count_);
    if (is_in_cluster) cluster_phases_.resize(threads);
    std::fill_n(shared_ + shared_bytes_, shared_slack, 0);
    warps_ = reinterpret_cast<Warp *>(memory_ + shared_room);
    uint8_t *rest = memory_ + shared_room + warps_room;
    for (uint32_t w = 0; w < warp_count_; ++w) {
        Warp &warp = *new (&warps_[w]) Warp{};
        warp.registers = rest;
        rest += registers;
        warp.local = rest;
        rest += round_up(local, 64) + 256;
        warp.shared = shared_;
        warp.params = launch.params;
        warp.site_cache = site_cache;
        warp.tally = tallies_.data() + w * tally_words_;
        warp.symbols = kernel.symbols;
        warp.block = this;
        std::copy_n(launch.grid, 3, warp.nctaid);
        warp.shared_bytes = shared_bytes_;
        warp.dynamic_shared_bytes = launch.dynamic_shared_bytes;
        warp.stack_bytes = launch.stack_bytes;
        warp.warp_id = w;
        warp.lane_count = std::min(32u, threads - w * 32);
        warp.kernel = &kernel;
        warp.grid_workspace = launch.grid_workspace;
        for (uint32_t lane = 0; lane < 32; ++lane) {
            uint32_t thread = w * 32 + lane;
            warp.tid[0][lane] = thread % kernel.block[0];
            warp.tid[1][lane] = thread / kernel.block[0] % kernel.block[1];
            warp.tid[2][lane] = thread / kernel.block[0] / kernel.block[1];
        }
    }
    for (auto &observer : launch.observers) observers.push_back(observer->watch(*this));
    if (rank) return;  // the first of the cluster does the rest
    std::vector<BlockContext *> blocks{this};
    for (uint32_t other = 1; other < launch.cluster_size(); ++other) {
        others_.push_back(std::make_unique<BlockContext>(launch, site_cache, tally, other,
                                                         windows_ + other * emu::Cluster::window_stride));
        blocks.push_back(others_.back().get());
        memory_bytes_ += others_.back()->memory_bytes_ + round_up(shared_bytes_ + shared_slack, 256);
    }
    cluster_ = std::make_shared<emu::Cluster>(std::move(blocks));
    for (auto &other : others_) other->cluster_ = cluster_;
}

void BlockContext::hand_over_tallies() {
    for (size_t i = 0; i < tallies_.size(); ++i) tally_[i % tally_words_] += std::exchange(tallies_[i], 0);
}

BlockContext::~BlockContext() {
    ::operator delete(memory_, std::align_val_t{256});
    if (windows_) ::operator delete(windows_, std::align_val_t{4096});
}

void BlockContext::start_alone(uint64_t number) {
    number_ = number;
    ended_ = false;
    idle_rounds_ = 0;
    for (auto &products : products_) products = {};
    pass_ = 0;
    gives_way_ = only_waits_ = false;
    patience_ = fuel_per_turn;
    uint32_t ctaid[3] = {static_cast<uint32_t>(number % launch.grid[0]),
                         static_cast<uint32_t>(number / launch.grid[0] % launch.grid[1]),
                         static_cast<uint32_t>(number / launch.grid[0] / launch.grid[1])};
    std::fill_n(shared_, shared_bytes_, emu::garbage);
    std::fill_n(shared_, launch.kernel->reserved_shared_bytes, 0);
    for (; arrived_at; arrived_at &= arrived_at - 1) barrier[std::countr_zero(arrived_at)] = {};
    if (async_copies_) async_copies_->clear();
    for (uint32_t w = 0; w < warp_count_; ++w) {
        Warp &warp = warps_[w];
        warp.pc = 0;
        warp.mode = EMU_UNIFORM;
        warp.instructions = 0;
        warp.turn = 0;
        warp.at_loop_head = warp.only_waits = warp.polled = false;
        std::fill_n(warp.looked_at, WarpContext::looked_at_count, 0);
        std::copy_n(ctaid, 3, warp.ctaid);
        warp.ahead = launch.lanes_apart ? emu::lanes_ahead(launch.seed, number, w) : 0;
        if (warp.lane_count < 32 || warp.ahead) {
            warp.mode = EMU_MASKED;
            std::fill_n(warp.lane_pc, warp.lane_count, 0);
            std::fill(warp.lane_pc + warp.lane_count, warp.lane_pc + 32, EMU_EXITED);
        }
        warp.done = false;
        warp.waiting = false;
        warp.gives_way = true;
        if (launch.kernel->observed) std::memset(warp.registers, 0, launch.kernel->register_bytes);
    }
    for (auto &observer : observers) observer->start(number);
}

bool BlockContext::make_code(EmuCodeWanted wanted) {
    const EmuKernel &kernel = *launch.kernel;
    cudaError_t error = emu::make_code(kernel, wanted);
    if (error) launch.stop(error, emu::readable_name(kernel.name) + " cannot be run on: " + emu::failure_reason());
    return !error;
}

// Runs the warp in the one function and the other, until it has to stop.
inline int32_t BlockContext::run_functions(Warp &warp) {
    for (;;) {
        auto wanted = warp.mode == EMU_UNIFORM ? EMU_WANT_UNIFORM : EMU_WANT_MASKED;
        EmuFunction function = launch.kernel->functions[wanted].load(std::memory_order_acquire);
        if (!function) {
            if (!make_code(wanted)) return EMU_YIELD;
            continue;
        }
        int32_t status = function(&warp);
        if (status != EMU_SWITCH) return status;
    }
}

// Side by side, as on hardware: what caches hold depends on it. Turns are as long as ever, but taken loop head by loop
// head.
inline int32_t BlockContext::run_observed(Warp &warp, int32_t loop_heads) {
    if (warp.gives_way || warp.turn <= 0) warp.turn = warp.fuel;
    warp.fuel = std::min(warp.turn, loop_heads);
    uint32_t policy = warp.reserved;
    int32_t given = warp.fuel, status = run_functions(warp);
    warp.turn -= given - warp.fuel;
    if (status == EMU_YIELD && warp.turn > 0) warp.reserved = policy;  // it has not given way
    return status;
}

// Loops that poll are watched from where they begin.
int32_t BlockContext::run_watched(Warp &warp) {
    int32_t status = run_observed(warp, warp.at_loop_head ? 1 : 0);
    warp.at_loop_head = status == EMU_YIELD;
    warp.only_waits = false;
    for (auto &observer : observers) warp.only_waits |= observer->pause(warp, warp.at_loop_head);
    if (warp.only_waits && warp.turn > 0) {
        // Nothing comes of the rest of its turn; other lanes of the warp may be those that it waits for.
        warp.turn = 0;
        warp.reserved ^= 1;
    }
    return status;
}

// Returns whether it did more than use up its fuel.
bool BlockContext::run_warp(Warp &warp, int32_t turn, bool *spun) {
    // Code that was written for hardware may rely on the other warps' getting as far as the first loop, too.
    bool gives_way = warp.gives_way && may_give_way_ && !runs_ahead_;
    warp.fuel = gives_way ? 0 : turn;
    uint64_t before = warp.instructions;
    uint32_t looks = warp.looks;
    warp.polled = false;
    bool is_watched = !observers.empty() && launch.kernel->polling_count;
    int32_t status = is_watched ? run_watched(warp) : observers.empty() ? run_functions(warp) : run_observed(warp, 1);
    warp.gives_way = false;
    unreported_instructions += warp.instructions - before;
    looks_ += warp.looks - looks;
    switch (status) {
    case EMU_DONE: warp.done = true; return true;
    case EMU_BARRIER:
    case EMU_BARRIER_QUIET:
        warp.waiting = true;
        warp.quiet = status == EMU_BARRIER_QUIET;
        return true;
    case EMU_YIELD: *spun = true; return gives_way;
    default: trap(warp); return true;
    }
}

void BlockContext::trap(const Warp &warp) {
    const EmuSite &site = launch.kernel->sites[warp.trap_site];
    std::string source_line = site.line ? std::string(" at ") + site.file + ":" + std::to_string(site.line) : "";
    // The grid's barrier traps where the launch has given it no memory.
    bool is_grid_barrier = launch.kernel->uses_grid_barrier && !launch.cooperative;
    const char *cause =
        is_grid_barrier ? ": a barrier of the whole grid (grid.sync()) needs cudaLaunchCooperativeKernel()" : "";
    launch.stop(cudaErrorLaunchFailure, "trap in " + emu::readable_name(launch.kernel->name) + source_line + cause);
}

// The less comes of a block's turns, the shorter they are: thousands of blocks may wait for one.
Progress BlockContext::end_turn() {
    patience_ = looks_ ? std::max(patience_ / 2, emu::fuel_of_look) : fuel_per_turn;
    return Progress::spun;
}

Progress BlockContext::advance_alone(const emu::SchedulerLimits &limits) {
    std::vector<uint32_t> order;
    runs_ahead_ = limits.runs_ahead;
    looks_ = 0;
    if (limits.shuffled) {
        order.resize(warp_count_);
        std::iota(order.begin(), order.end(), 0);
    }
    for (int32_t slices = 0;;) {
        int32_t turn = fuel_per_turn;
        if (limits.shuffled) {
            Draw draw{limits.seed * 0x9e3779b97f4a7c15 + number_ * 0x2545f4914f6cdd1d + pass_++};
            for (uint32_t i = warp_count_; i > 1; --i) std::swap(order[i - 1], order[draw() % i]);
            turn = 1 << draw() % 12;
        }
        if (observers.empty()) turn = std::min(turn, patience_);
        bool moved = false, spun = false, left = false, has_worked = false, all_poll = true;
        for (uint32_t i = 0; i < warp_count_; ++i) {
            Warp &warp = warps_[limits.shuffled ? order[i] : i];
            if (!warp.done && !warp.waiting) {
                moved |= run_warp(warp, turn, &spun);
                has_worked |= !warp.only_waits;
                all_poll &= warp.polled && is_in_waiting_loop(warp);
            }
            if (launch.stopped()) return Progress::finished;
            left |= !warp.done;
        }
        only_waits_ = left && !has_worked;
        if (!left) {
            if (!cluster_->copies.empty()) cluster_->copies.finish(*this);
            for (auto &observer : observers) observer->finish();
            hand_over_tallies();
            return Progress::finished;
        }
        bool released = release_barriers();
        bool turn_is_over =
            unreported_instructions > instructions_per_turn && launch.takes_turns.load(std::memory_order_relaxed);
        if (std::exchange(gives_way_, false) || turn_is_over) return Progress::gave_way;
        if (stops_after && !--stops_after) return end_turn();
        if (released) {
            // Loops with barriers have to give way sometimes as well: for the limits' sake, and where they wait for
            // other blocks.
            bool looks = observers.empty() && int64_t{looks_} * emu::fuel_of_look >= patience_;
            if (looks || unreported_instructions > 1 << 20) return end_turn();
            continue;
        }
        bool is_idle = all_poll && !moved && spun && cluster_->progress() == last_progress_;
        idle_rounds_ = is_idle ? idle_rounds_ + 1 : 0;
        last_progress_ = cluster_->progress();
        if (moved) continue;
        if (!spun) return Progress::deadlock;
        // Observed warps have their turns in slices: together they are as long.
        if (observers.empty() || only_waits_ || ++slices >= turn) return end_turn();
    }
}
