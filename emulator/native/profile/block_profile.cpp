#include "profile/block_profile.h"

#include <algorithm>
#include <utility>

#include "exec/block.h"
#include "exec/semantics.h"
#include "profile/access_footprint.h"

namespace emu {

namespace {

constexpr uint32_t l1_ways = 8;

// Calls `visit` for each address that lanes have, with those lanes.
template <class Visit>
void for_each_address(uint32_t mask, const uint64_t *address, const Visit &visit) {
    while (mask) {
        uint64_t first = address[__builtin_ctz(mask)];
        uint32_t same = 0;
        for (uint32_t lane = 0; lane < 32; ++lane) same |= uint32_t{address[lane] == first} << lane;
        same &= mask;
        visit(first, same);
        mask &= ~same;
    }
}

uint32_t distinct_addresses(uint32_t mask, const uint64_t *address) {
    uint32_t count = 0;
    for_each_address(mask, address, [&](uint64_t, uint32_t) { ++count; });
    return count;
}

// The lanes of the address that most lanes have.
uint32_t max_on_one_address(uint32_t mask, const uint64_t *address) {
    uint32_t most = 0;
    for_each_address(mask, address, [&](uint64_t, uint32_t lanes) {
        most = std::max(most, static_cast<uint32_t>(__builtin_popcount(lanes)));
    });
    return most;
}

// How often shared memory has to be asked for these lanes: 32 banks, each of which gives one word of 4 bytes (to any
// number of lanes).
uint32_t wavefronts(uint32_t mask, const uint64_t *address, uint32_t size, uint64_t window) {
    uint32_t words[32][32], count[32] = {}, most = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t offset = address[__builtin_ctz(mask)] - window;
        for (uint32_t word = static_cast<uint32_t>(offset / 4); word <= static_cast<uint32_t>((offset + size - 1) / 4);
             ++word) {
            uint32_t bank = word % 32;
            uint32_t *end = words[bank] + count[bank];
            if (count[bank] < 32 && std::find(words[bank], end, word) == end) {
                *end = word;
                most = std::max(most, ++count[bank]);
            }
        }
    }
    return most;
}

// Of a lane.
uint64_t local_bytes(const WarpContext &warp) { return warp.kernel->local_bytes + warp.stack_bytes; }

}  // namespace

BlockProfile::BlockProfile(Profile &profile, BlockContext &block)
    : profile_(profile),
      block_(block),
      l1_(profile.l1_bytes_, l1_ways),
      sites_(block.launch.kernel->site_count),
      sites_of_block_(sites_.size()),
      warps_(block.warp_count()),
      barriers_of_(block.warp_count()),
      poll_detectors_(block.warp_count()) {}

// What a block that was stopped has counted so far is of use for the totals alone.
BlockProfile::~BlockProfile() {
    for (size_t i = 0; i < sites_.size(); ++i) sites_[i].add(sites_of_block_[i]);
    profile_.add(*this);
}

void BlockProfile::start(uint64_t number) {
    number_ = number;
    stream_.clear();
    l1_.clear();
    for (PollDetector &poll_detector : poll_detectors_) poll_detector.start();
}

void BlockProfile::finish() {
    uint64_t whole = 0;
    for (uint32_t w = 0; w < block_.warp_count(); ++w) {
        uint64_t of_warp = block_.warp(w).instructions - poll_detectors_[w].instructions();
        polls_ += poll_detectors_[w].rounds();
        longest_warp_ = std::max(longest_warp_, of_warp);
        whole += of_warp;
    }
    sizes_.add(whole);
    count_block();
    profile_.take(number_, stream_, true);
}

void BlockProfile::count_block() {
    Counters whole;
    for (size_t i = 0; i < sites_.size(); ++i) {
        whole.add(sites_of_block_[i]);
        sites_[i].add(std::exchange(sites_of_block_[i], {}));
    }
    for (uint32_t w = 0; w < block_.warp_count(); ++w) {
        Counters of_warp = std::exchange(warps_[w], {});
        Counters executed;
        const uint64_t *tally = block_.tally_of(w);
        for (const EmuContent &content : profile_.basic_blocks_) {
            if (uint64_t runs = *tally++, lanes = *tally++; runs) count_runs(content, runs, lanes, executed);
        }
        whole.add(executed);
        of_warp.add(executed);
        busiest_warp_.raise(of_warp);
        max_barriers_ = std::max(max_barriers_, std::exchange(barriers_of_[w], 0));
    }
    busiest_block_.raise(whole);
}

void BlockProfile::arrive(const WarpContext &warp, uint32_t, uint32_t, bool) {
    poll_detector_of(warp).note_effect();
    ++barriers_;
    ++barriers_of_[warp.warp_id];
}

void BlockProfile::mbarrier_arrive(const WarpContext &warp, uint32_t, const uint64_t *) {
    poll_detector_of(warp).note_effect();
}

void BlockProfile::mbarrier_wait(const WarpContext &warp) { poll_detector_of(warp).note_poll(); }

void BlockProfile::change(const WarpContext &warp) { poll_detector_of(warp).note_effect(); }

bool BlockProfile::pause(WarpContext &warp, bool at_loop_head) {
    PollDetector &poll_detector = poll_detector_of(warp);
    for (const PollDetector::Access &it : poll_detector.pause(warp, at_loop_head, profile_.polling_))
        count(warp, it.site, it.mask, it.address);
    return poll_detector.waits();
}

void BlockProfile::access(const WarpContext &warp, uint32_t index, uint32_t mask, const uint64_t *address) {
    if (!warp.kernel->polling_count) return count(warp, index, mask, address);
    const EmuSite &site = warp.kernel->sites[index];
    PollDetector &poll_detector = poll_detector_of(warp);
    // Of an atomic that changes something one hears.
    if (site.kind == EMU_STORE) poll_detector.note_effect();
    if (site.order & EMU_STRONG) poll_detector.note_poll();
    if (!poll_detector.keep(index, mask, address)) count(warp, index, mask, address);
}

void BlockProfile::count(const WarpContext &warp, uint32_t index, uint32_t mask, const uint64_t *address) {
    const EmuSite &site = warp.kernel->sites[index];
    Counters &counters = sites_of_block_[index];
    of_warp_ = &warps_[warp.warp_id];
    auto lanes_in = [&](const uint8_t *from, uint64_t size) {
        uint32_t lanes = 0;
        for (uint32_t l = 0; l < 32; ++l) lanes |= uint32_t{address[l] - reinterpret_cast<uint64_t>(from) < size} << l;
        return lanes & mask;
    };
    uint32_t shared = 0, global = 0, local = 0, bank = 0;
    switch (site.space) {
    case EMU_SHARED: shared = mask; break;
    case EMU_GLOBAL: global = mask; break;
    case EMU_CONST: bank = mask; break;
    case EMU_PARAM: bank = lanes_in(warp.params, warp.kernel->param_bytes); break;  // not those of calls
    case EMU_LOCAL: local = lanes_in(warp.local, 32 * local_bytes(warp)); break;
    case EMU_GENERIC:
        shared = lanes_in(warp.shared, warp.shared_bytes);
        if (block_.launch.cluster_size() > 1) shared |= emu_cluster_lanes(&warp, mask, address);
        local = lanes_in(warp.local, 32 * local_bytes(warp));
        global = mask & ~(shared | local);
        break;
    default: break;
    }
    if (bank) access_bank(counters, bank, address);
    if (local) access_local(warp, site, counters, local, address);
    if (!(shared | global)) return;
    if (site.kind == EMU_ATOMIC) access_atomic(site, counters, shared, global, address);
    if (shared) access_shared(warp, site, counters, shared, address);
    if (!global) return;
    if (site.kind == EMU_LOAD) counters.global_load_lanes += static_cast<uint32_t>(__builtin_popcount(global));
    access_cached(warp, site, false, counters, AccessFootprint(global, address, site.size));
}

void BlockProfile::access_atomic(const EmuSite &site, Counters &counters, uint32_t shared, uint32_t global,
                                 const uint64_t *address) {
    counters.atomics += static_cast<uint32_t>(__builtin_popcount(shared | global));
    counters.atomic_serialized += max_on_one_address(shared | global, address) - 1;
    bool is_awaited = site.atomic_form & EMU_AWAITED;
    if (shared) {
        uint32_t turns = max_on_one_address(shared, address);
        if (site.atomic_form & EMU_SWAP_LOOP) {
            counters.swap_rounds += turns;
            of_warp_->swap_rounds += turns;
        } else {
            counters.awaited_shared_atomics += is_awaited;
            of_warp_->awaited_shared_atomics += is_awaited;
        }
        (site.atomic_form & EMU_COUNT ? shared_increment_turns_ : shared_atomic_turns_) += turns;
    }
    if (global) {
        counters.global_atomics += static_cast<uint32_t>(__builtin_popcount(global));
        counters.awaited_global_atomics += is_awaited;
        of_warp_->awaited_global_atomics += is_awaited;
        if (is_awaited) block_.give_way();
        count_turns(site.atomic_form & EMU_FLOAT, global, address);
    }
}

// Word by word, those of a warp's lanes beside each other. Blocks that come later have the places of those that have
// ended.
void BlockProfile::access_local(const WarpContext &warp, const EmuSite &site, Counters &counters, uint32_t mask,
                                const uint64_t *address) {
    uint64_t of_lane = local_bytes(warp), of_locals = warp.kernel->local_bytes;
    uint64_t place = number_ % profile_.resident_blocks_ * block_.warp_count() + warp.warp_id;
    uint64_t base = local_window + place * of_lane * 32;
    AccessFootprint touched;
    for (; mask; mask &= mask - 1) {
        uint32_t lane = static_cast<uint32_t>(__builtin_ctz(mask));
        uint64_t at = address[lane] - reinterpret_cast<uint64_t>(warp.local);
        bool on_stack = at >= of_locals * 32;
        at = on_stack ? of_locals + (at - of_locals * 32) % warp.stack_bytes : at % of_locals;
        for (uint32_t done = 0, here; done < site.size; done += here) {
            here = std::min<uint32_t>(site.size - done, 4 - (at + done) % 4);
            touched.add(base + (at + done) / 4 * line_bytes + 4 * lane + (at + done) % 4, here);
        }
    }
    access_cached(warp, site, true, counters, touched);
}

// A copy is one load, however long, which passes the L1 by.
void BlockProfile::bulk(const WarpContext &warp, uint32_t lane, const BulkAccess &it) {
    if (it.stage != BulkStage::global_read) return BlockObserver::bulk(warp, lane, it);
    poll_detector_of(warp).note_effect();
    Counters &counters = sites_of_block_[it.site];
    of_warp_ = &warps_[warp.warp_id];
    for (Counters *all : {&counters, of_warp_}) {
        all->global_loads += it.begins;
        all->missed_loads += it.begins;
    }
    counters.global_requests += it.begins;
    counters.global_sectors_ideal += (it.size + sector_bytes - 1) / sector_bytes;
    uint64_t load = it.begins ? Profile::begins_load | uint64_t{warp.warp_id} << Profile::warp_shift : 0;
    uint64_t end = it.address + it.size;
    for (uint64_t line = it.address / line_bytes; line * line_bytes < end; ++line) {
        uint32_t sectors = 0;
        for (uint32_t s = 0; s < line_bytes / sector_bytes; ++s) {
            uint64_t at = line * line_bytes + s * sector_bytes;
            sectors |= uint32_t{at < end && at + sector_bytes > it.address} << s;
        }
        auto count = static_cast<uint32_t>(__builtin_popcount(sectors));
        counters.global_sectors += count;
        counters.l2_sectors += count;
        ask_l2(line, sectors, read, std::exchange(load, 0));
    }
}

// Stores go through the L1; those to local memory stay in it, too. Loads that others' stores may meet look behind it.
void BlockProfile::access_cached(const WarpContext &warp, const EmuSite &site, bool is_local, Counters &counters,
                                 const AccessFootprint &touched) {
    ++counters.global_requests;
    counters.global_loads += site.kind == EMU_LOAD;
    of_warp_->global_loads += site.kind == EMU_LOAD;
    counters.global_sectors_ideal += (touched.distinct_bytes() + sector_bytes - 1) / sector_bytes;
    Kind of_atomic = site.atomic_form & EMU_AWAITED ? atomic : reduction;
    Kind kind = site.kind == EMU_LOAD ? read : site.kind == EMU_STORE ? write : of_atomic;
    bool uses_l1 = is_local || (kind == read && !(site.order & EMU_STRONG));
    uint64_t load = kind == read ? Profile::begins_load | uint64_t{warp.warp_id} << Profile::warp_shift : 0;
    bool misses = false;
    for (const AccessFootprint::Line &line : touched) {
        uint32_t sectors = line.sectors(), hits = 0;
        if (uses_l1) hits = l1_.touch(line.number, sectors, false);
        if (kind != read) hits = 0;
        auto count = static_cast<uint32_t>(__builtin_popcount(sectors)),
             hit = static_cast<uint32_t>(__builtin_popcount(hits));
        counters.global_sectors += count;
        counters.l1_hit_sectors += hit;
        counters.l2_sectors += count - hit;
        if (count == hit) continue;
        ask_l2(line.number, sectors & ~hits, kind, std::exchange(load, 0));
        misses = true;
    }
    counters.missed_loads += misses && kind == read;
    of_warp_->missed_loads += misses && kind == read;
}

void BlockProfile::count_turns(bool is_float, uint32_t mask, const uint64_t *address) {
    AtomicTurns &all = is_float ? profile_.float_atomic_turns_ : profile_.atomic_turns_;
    bool is_combined =
        !is_float && max_on_one_address(mask, address) == static_cast<uint32_t>(__builtin_popcount(mask));
    uint64_t sector[32];
    for (uint32_t lane = 0; lane < 32; ++lane) sector[lane] = address[lane] / sector_bytes;
    for_each_address(mask, sector, [&](uint64_t at, uint32_t lanes) {
        all.add(at, is_combined ? 1 : static_cast<uint64_t>(__builtin_popcount(lanes)));
    });
}

// The banks of constants and parameters give one address at a time; the first comes with the instruction.
void BlockProfile::access_bank(Counters &counters, uint32_t mask, const uint64_t *address) {
    uint32_t more = distinct_addresses(mask, address) - 1;
    counters.shared_wavefronts += more;
    counters.shared_wavefronts_ideal += more;  // no conflict: nothing but fewer addresses would help
}

// 8 bytes to a lane are asked for by half warps, 16 by quarters.
void BlockProfile::access_shared(const WarpContext &warp, const EmuSite &site, Counters &counters, uint32_t mask,
                                 const uint64_t *address) {
    uint32_t lanes = site.size <= 4 ? 32 : std::max(1u, 128u / site.size);
    bool in_order =
        mask == all_lanes && address[0] % site.size == 0 &&
        (AccessFootprint::is_consecutive(address, site.size) || AccessFootprint::is_consecutive(address, 0));
    for (uint32_t first = 0; first < 32; first += lanes) {
        uint32_t part = mask & (lanes == 32 ? all_lanes : ((1u << lanes) - 1) << first);
        if (!part) continue;
        ++counters.shared_wavefronts_ideal;
        counters.shared_wavefronts +=
            in_order ? 1 : wavefronts(part, address, site.size, reinterpret_cast<uint64_t>(warp.shared));
    }
}

// `load`: what marks the first of a load's, else 0.
void BlockProfile::ask_l2(uint64_t line, uint32_t sectors, Kind kind, uint64_t load) {
    uint64_t word = load | line << 6 | uint64_t{kind} << 4;
    if (!load && !stream_.empty() && (stream_.back() & ~uint64_t{15}) == word) {
        stream_.back() |= sectors;
        return;
    }
    stream_.push_back(word | sectors);
    if (stream_.size() % Profile::long_stream == 0) profile_.take(number_, stream_, false);
}

}  // namespace emu
