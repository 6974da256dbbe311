#include "profile/profile.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/device_model.h"
#include "exec/block.h"
#include "profile/block_profile.h"
#include "profile/cache_model.h"
#include "report/report.h"

namespace emu {

namespace {

static_assert(sizeof EmuContent::instructions == 4 * class_count && sizeof EmuContent::flops == 4 * flop_types);

uint64_t multiprocessors() { return static_cast<uint64_t>(device_model::size().multiprocessors); }

constexpr uint64_t l1_bytes = 192 << 10;  // of a multiprocessor, shared memory included
constexpr uint64_t least_l1_bytes = 4 << 10;
constexpr uint32_t l2_ways = 16;
constexpr size_t max_lines = 10;
constexpr size_t max_waiting_words = 32 << 20;  // words of streams: 256 MiB

// One device, one L2. Launches run one at a time.
uint64_t l2_bytes = 0;
CacheModel *l2_model = nullptr;  // made when it is needed: it is large

CacheModel &l2() {
    if (!l2_model) l2_model = new CacheModel(l2_bytes, l2_ways);
    return *l2_model;
}

bool l2_is_used = false;

size_t shared_bytes_of(const Launch &launch) {
    return launch.kernel->shared_bytes - launch.kernel->reserved_shared_bytes + launch.dynamic_shared_bytes;
}

// How many blocks a multiprocessor can hold.
uint64_t fitting_blocks(const Launch &launch) {
    auto threads = static_cast<int>(launch.threads_per_block());
    return static_cast<uint64_t>(
        std::max(1, device_model::resident_blocks(threads, shared_bytes_of(launch), 0, device_model::usual())));
}

// A block's part of an L1 that it shares with as many like it as fit.
uint64_t l1_share(const Launch &launch) {
    uint64_t resident =
        std::clamp<uint64_t>((launch.blocks() + multiprocessors() - 1) / multiprocessors(), 1, fitting_blocks(launch));
    uint64_t taken = resident * (shared_bytes_of(launch) + device_model::usual().shared_reserved_per_block);
    return std::max(least_l1_bytes, (l1_bytes - std::min(l1_bytes, taken)) / resident);
}

void add_content(EmuContent &into, const EmuContent &more) {
    for (uint32_t c = 0; c < class_count; ++c) into.instructions[c] += more.instructions[c];
    for (uint32_t f = 0; f < flop_types; ++f) into.flops[f] += more.flops[f];
    into.dependent_steps += more.dependent_steps;
    into.dependent_loads += more.dependent_loads;
}

}  // namespace

void count_runs(const EmuContent &content, uint64_t runs, uint64_t lanes, Counters &into) {
    for (uint32_t c = 0; c < class_count; ++c) {
        into.warp_instructions[c] += runs * content.instructions[c];
        into.thread_instructions += lanes * content.instructions[c];
    }
    for (uint32_t f = 0; f < flop_types; ++f) into.flops[f] += (f < lane_flop_types ? lanes : runs) * content.flops[f];
    into.dependent_steps += runs * content.dependent_steps;
    into.dependent_loads += runs * content.dependent_loads;
}

void set_l2(uint64_t size_bytes) {
    LaunchPause pause;
    if (size_bytes == l2_bytes) return;
    l2_bytes = size_bytes;
    delete std::exchange(l2_model, nullptr);
}

void forget_l2() {
    LaunchPause pause;
    if (std::exchange(l2_is_used, false) && l2_model) l2_model->clear();
}

Profile::Profile(const Launch &launch)
    : resident_blocks_(multiprocessors() * fitting_blocks(launch)),
      l1_bytes_(l1_share(launch)),
      polling_(launch.kernel->block_count),
      basic_blocks_(launch.kernel->block_count),
      sites_(launch.kernel->site_count) {
    for (uint32_t i = 0; i < launch.kernel->polling_count; ++i) polling_[launch.kernel->polling[i]] = true;
    for (const EmuContent *it = launch.kernel->contents; it != launch.kernel->contents + launch.kernel->content_count;
         ++it) {
        add_content(basic_blocks_[it->block], *it);
    }
    l2_is_used = true;
}

std::unique_ptr<BlockObserver> Profile::watch(BlockContext &block) {
    return std::make_unique<BlockProfile>(*this, block);
}

void Profile::take(uint64_t number, Stream &stream, bool is_whole) {
    std::lock_guard lock(l2_mutex_);
    bool is_turn = number == next_block_;
    // What is kept for later: this stream as far as it was shown before, and now all of it.
    kept_ -= stream.size() / long_stream * long_stream - (is_whole ? 0 : long_stream);
    if (!is_turn && kept_ + stream.size() <= max_waiting_words) {
        kept_ += stream.size();
        if (is_whole) waiting_[number] = std::exchange(stream, {});
        return;
    }
    replay_l2_accesses(number, stream);  // before its turn where memory would run out
    stream.clear();
    if (!is_whole) return;
    if (!is_turn) {
        waiting_[number];
        return;
    }
    dram_loads_by_.erase(number);
    ++next_block_;
    for (auto it = waiting_.begin(); it != waiting_.end() && it->first == next_block_; it = waiting_.erase(it)) {
        kept_ -= it->second.size();
        replay_l2_accesses(it->first, it->second);
        dram_loads_by_.erase(it->first);
        ++next_block_;
    }
}

void Profile::replay_l2_accesses(uint64_t number, const Stream &stream) {
    CacheModel &cache = l2();
    uint64_t read = 0;
    std::array<uint64_t, max_warps> &by_warp = dram_loads_by_[number];
    uint64_t *waits = nullptr;  // the warp's count, while nothing of its load was found in DRAM
    for (uint64_t word : stream) {
        auto sectors = static_cast<uint32_t>(word & 15);
        auto kind = static_cast<BlockProfile::Kind>(word >> 4 & 3);
        uint64_t line = word << (64 - warp_shift) >> (64 - warp_shift + 6);
        uint32_t had = cache.touch(line, sectors, kind != BlockProfile::read);
        if (kind != BlockProfile::read) waits = nullptr;
        if (word & begins_load) waits = &by_warp[word >> warp_shift & (max_warps - 1)];
        // Whole sectors are written without being read before.
        if (kind == BlockProfile::write) continue;
        uint32_t missing = sectors & ~had;
        read += static_cast<uint32_t>(__builtin_popcount(missing));
        // A reduction fetches what somebody else has to wait for.
        if (kind == BlockProfile::reduction && missing) cache.mark_ahead(line, missing);
        if (kind == BlockProfile::read) missing |= cache.take_ahead(line, sectors);
        if (!waits || !missing) continue;
        ++dram_loads_;
        max_dram_loads_ = std::max(max_dram_loads_, ++*waits);
        waits = nullptr;
    }
    read_sectors_ += read;
    written_sectors_ += cache.take_written();
}

void Profile::add(const BlockProfile &of_blocks) {
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < sites_.size(); ++i) sites_[i].add(of_blocks.sites_[i]);
    polls_ += of_blocks.polls_;
    barriers_ += of_blocks.barriers_;
    longest_warp_ = std::max(longest_warp_, of_blocks.longest_warp_);
    sizes_.add(of_blocks.sizes_);
    busiest_block_.raise(of_blocks.busiest_block_);
    busiest_warp_.raise(of_blocks.busiest_warp_);
    max_barriers_ = std::max(max_barriers_, of_blocks.max_barriers_);
    shared_atomic_turns_ += of_blocks.shared_atomic_turns_;
    shared_increment_turns_ += of_blocks.shared_increment_turns_;
}

void Profile::finish(Launch &launch) {
    for (auto &[number, stream] : waiting_) replay_l2_accesses(number, stream);  // of a launch that was stopped
    waiting_.clear();
    written_sectors_ += l2().clean(local_window / line_bytes);
    launch.profile = std::make_shared<LaunchProfile>(launch_profile(launch));
}

LaunchProfile Profile::launch_profile(const Launch &launch) const {
    const EmuKernel &kernel = *launch.kernel;
    std::map<std::pair<std::string_view, uint32_t>, Counters> lines;
    for (uint32_t i = 0; i < kernel.site_count; ++i) {
        lines[{kernel.sites[i].file, kernel.sites[i].line}].add(sites_[i]);
    }
    LaunchProfile result{};
    for (uint32_t i = 0; i < kernel.content_count; ++i) {
        const EmuContent &content = kernel.contents[i];
        uint64_t runs = launch.tally[2 * content.block], lanes = launch.tally[2 * content.block + 1];
        count_runs(content, runs, lanes, lines[{content.file, content.line}]);
    }
    for (const auto &[at, line] : lines) {
        result.totals.add(line);
        if (line.cost() > 0) result.lines.push_back({std::string(at.first), at.second, line});
    }
    std::stable_sort(result.lines.begin(), result.lines.end(), [](const LineCounters &a, const LineCounters &b) {
        return a.counters.cost() > b.counters.cost();
    });
    if (result.lines.size() > max_lines) result.lines.resize(max_lines);
    result.dram_read_bytes = read_sectors_ * sector_bytes;
    result.dram_write_bytes = written_sectors_ * sector_bytes;
    result.barriers = barriers_;
    result.polls = polls_;
    result.critical_warp_instructions = longest_warp_;
    result.busiest_block = busiest_block_;
    result.busiest_warp = busiest_warp_;
    result.critical_warp_barriers = max_barriers_;
    result.busy_blocks = sizes_.busy();
    result.dram_loads = dram_loads_;
    result.critical_warp_dram_loads = max_dram_loads_;
    result.hottest_atomic_turns = atomic_turns_.most();
    result.hottest_float_atomic_turns = float_atomic_turns_.most();
    result.shared_atomic_turns = shared_atomic_turns_;
    result.shared_increment_turns = shared_increment_turns_;
    result.registers_per_thread = launch.registers;
    result.static_shared_bytes = kernel.shared_bytes - kernel.reserved_shared_bytes;
    result.dynamic_shared_bytes = launch.dynamic_shared_bytes;
    result.local_bytes = kernel.local_bytes;
    return result;
}

}  // namespace emu
