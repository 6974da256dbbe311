#include "block_profile.h"

#include <algorithm>

#include "block.h"

namespace emu {

namespace {

constexpr uint32_t all_lanes = 0xffffffffu;
constexpr uint32_t l1_ways = 8;
constexpr uint32_t turn_bits = 14;
constexpr uint32_t no_site = 0xffffffffu;

// The bytes that a warp touches, by lines of 128.
class Touched {
  public:
    struct Line {
        uint64_t number;
        uint64_t bytes[2];  // a bit each

        uint32_t sectors() const {
            uint32_t found = 0;
            for (uint32_t s = 0; s < 4; ++s) found |= uint32_t{(bytes[s / 2] >> (s % 2 * 32) & 0xffffffff) != 0} << s;
            return found;
        }
    };

    Touched(uint32_t mask, const uint64_t *address, uint32_t size) {
        if (mask == all_lanes && is_consecutive(address, size)) {
            add(address[0], 32 * size);
        } else if (mask == all_lanes && is_consecutive(address, 0)) {
            add(address[0], size);
        } else {
            for (; mask; mask &= mask - 1) add(address[__builtin_ctz(mask)], size);
        }
    }

    // Each lane's address lies `size` bytes behind that of the lane before.
    static bool is_consecutive(const uint64_t *address, uint32_t size) {
        if (address[31] != address[0] + 31 * size) return false;
        uint64_t differs = 0;
        for (uint32_t lane = 0; lane < 32; ++lane) differs |= address[lane] ^ (address[0] + uint64_t{lane} * size);
        return !differs;
    }

    const Line *begin() const { return lines_; }
    const Line *end() const { return lines_ + count_; }

    uint64_t distinct_bytes() const {
        uint64_t bytes = 0;
        for (const Line &line : *this) bytes += __builtin_popcountll(line.bytes[0]) + __builtin_popcountll(line.bytes[1]);
        return bytes;
    }

  private:
    void add(uint64_t address, uint32_t size) {
        while (size) {
            uint32_t from = address % line_bytes, here = std::min(size, line_bytes - from);
            Line &line = find(address / line_bytes);
            for (uint32_t half = 0; half < 2; ++half) line.bytes[half] |= bits(from, from + here, 64 * half);
            address += here;
            size -= here;
        }
    }

    // Bits [from, to) of a mask of 128, as far as they are in the word that begins at `base`.
    static uint64_t bits(uint32_t from, uint32_t to, uint32_t base) {
        uint32_t low = std::clamp(from, base, base + 64) - base, high = std::clamp(to, base, base + 64) - base;
        auto below = [](uint32_t n) { return n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; };
        return below(high) & ~below(low);
    }

    Line &find(uint64_t number) {
        for (uint32_t i = count_; i-- > 0;) {
            if (lines_[i].number == number) return lines_[i];
        }
        return lines_[count_++] = {number, {0, 0}};
    }

    Line lines_[64];  // 32 lanes, each of which may straddle two
    uint32_t count_ = 0;
};

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
uint32_t most_on_one_address(uint32_t mask, const uint64_t *address) {
    uint32_t most = 0;
    for_each_address(mask, address, [&](uint64_t, uint32_t lanes) {
        most = std::max(most, static_cast<uint32_t>(__builtin_popcount(lanes)));
    });
    return most;
}

// How often shared memory has to be asked for these lanes: 32 banks, each of which gives one word of 4 bytes (to any number of lanes).
uint32_t wavefronts(uint32_t mask, const uint64_t *address, uint32_t size, uint64_t window) {
    uint32_t words[32][32], count[32] = {}, most = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t offset = address[__builtin_ctz(mask)] - window;
        for (uint32_t word = static_cast<uint32_t>(offset / 4); word <= static_cast<uint32_t>((offset + size - 1) / 4); ++word) {
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

}  // namespace

BlockProfile::BlockProfile(Profile &profile, BlockContext &block)
    : profile_(profile), block_(block), l1_(profile.l1_bytes_, l1_ways), sites_(block.launch.kernel->site_count),
      polls_(block.launch.kernel->site_count), last_(block.warp_count()) {}

BlockProfile::~BlockProfile() { profile_.add(*this); }

void BlockProfile::start(uint64_t number) {
    number_ = number;
    stream_.clear();
    l1_.clear();
    for (LastAccess &last : last_) last = {no_site, 0, {}, 0};
}

void BlockProfile::finish() {
    uint64_t whole = 0;
    for (uint32_t w = 0; w < block_.warp_count(); ++w) {
        uint64_t of_warp = block_.warp(w).instructions - last_[w].polling;
        longest_warp_ = std::max(longest_warp_, of_warp);
        whole += of_warp;
    }
    longest_block_ = std::max(longest_block_, whole);
    profile_.take(number_, stream_, true);
}

void BlockProfile::arrive(const WarpContext &, uint32_t, uint32_t, bool) { ++barriers_; }

void BlockProfile::access(const WarpContext &warp, uint32_t index, uint32_t mask, const uint64_t *address) {
    const EmuSite &site = warp.kernel->sites[index];
    Figures &figures = sites_[index];
    uint32_t shared = 0, global = 0, bank = 0;
    if (site.space == EMU_SHARED) {
        shared = mask;
    } else if (site.space == EMU_GLOBAL) {
        global = mask;
    } else if (site.space == EMU_CONST) {
        bank = mask;
    } else if (site.space == EMU_PARAM) {  // those of calls lie in local memory
        uint64_t first = reinterpret_cast<uint64_t>(warp.params);
        for (uint32_t lane = 0; lane < 32; ++lane) bank |= uint32_t{address[lane] - first < warp.kernel->param_bytes} << lane;
        bank &= mask;
    } else if (site.space == EMU_GENERIC) {
        uint64_t window = reinterpret_cast<uint64_t>(warp.shared), local = reinterpret_cast<uint64_t>(warp.local);
        uint64_t local_bytes = (warp.kernel->local_bytes + warp.stack_bytes) * 32;
        for (uint32_t lane = 0; lane < 32; ++lane) {
            uint32_t bit = mask & 1u << lane;
            bool is_shared = address[lane] - window < warp.shared_bytes, is_local = address[lane] - local < local_bytes;
            shared |= is_shared ? bit : 0;
            global |= is_shared || is_local ? 0 : bit;
        }
    }
    if (is_poll(warp, index, mask, address)) return;
    if (bank) access_bank(figures, bank, address);
    if (!(shared | global)) return;
    if (site.kind == EMU_ATOMIC) access_atomic(site, figures, shared, global, address);
    if (shared) access_shared(warp, site, figures, shared, address);
    if (global) access_global(site, figures, global, address);
}

bool BlockProfile::is_poll(const WarpContext &warp, uint32_t index, uint32_t mask, const uint64_t *address) {
    const EmuSite &site = warp.kernel->sites[index];
    LastAccess &last = last_[warp.warp_id];
    bool is_strong_load = site.kind == EMU_LOAD && site.order & EMU_STRONG;
    bool is_again = is_strong_load && last.site == index && last.mask == mask;
    for (uint32_t lanes = mask; is_again && lanes; lanes &= lanes - 1) {
        uint32_t lane = static_cast<uint32_t>(__builtin_ctz(lanes));
        is_again = last.address[lane] == address[lane];
    }
    if (is_again) {
        ++polls_[index].count;
        polls_[index].lanes += static_cast<uint32_t>(__builtin_popcount(mask));
        if (site.block < profile_.block_sizes_.size()) last.polling += profile_.block_sizes_[site.block];
        return true;
    }
    last.site = index;
    last.mask = mask;
    if (is_strong_load) std::copy_n(address, 32, last.address);
    return false;
}

void BlockProfile::access_atomic(const EmuSite &site, Figures &figures, uint32_t shared, uint32_t global, const uint64_t *address) {
    figures.atomics += static_cast<uint32_t>(__builtin_popcount(shared | global));
    figures.atomic_serialized += most_on_one_address(shared | global, address) - 1;
    bool is_awaited = site.atomic_form & EMU_AWAITED;
    if (shared) {
        uint32_t turns = most_on_one_address(shared, address);
        if (site.atomic_form & EMU_SWAP_LOOP) {
            figures.swap_rounds += turns;
        } else {
            figures.awaited_shared_atomics += is_awaited;
        }
        (site.atomic_form & EMU_COUNT ? shared_increment_turns_ : shared_atomic_turns_) += turns;
    }
    if (global) {
        figures.global_atomics += static_cast<uint32_t>(__builtin_popcount(global));
        figures.awaited_global_atomics += is_awaited;
        count_turns(site.atomic_form & EMU_FLOAT, global, address);
    }
}

void BlockProfile::access_global(const EmuSite &site, Figures &figures, uint32_t mask, const uint64_t *address) {
    Touched touched(mask, address, site.size);
    ++figures.global_requests;
    figures.global_loads += site.kind == EMU_LOAD;
    figures.global_sectors_ideal += (touched.distinct_bytes() + sector_bytes - 1) / sector_bytes;
    for (const Touched::Line &line : touched) {
        uint32_t sectors = line.sectors(), hits = 0;
        if (site.kind == EMU_LOAD) hits = l1_.touch(line.number, sectors, false);
        auto count = static_cast<uint32_t>(__builtin_popcount(sectors)), hit = static_cast<uint32_t>(__builtin_popcount(hits));
        figures.global_sectors += count;
        figures.l1_hit_sectors += hit;
        figures.l2_sectors += count - hit;
        Kind kind = site.kind == EMU_LOAD ? read : site.kind == EMU_STORE ? write : atomic;
        if (count > hit) ask_l2(line.number, sectors & ~hits, kind);
    }
}

// Buckets and not a map: what they take does not depend on how many sectors there are, and a few that share one do not matter beside
// one that is hot.
void BlockProfile::count_turns(bool is_float, uint32_t mask, const uint64_t *address) {
    std::vector<uint64_t> &all = is_float ? float_atomic_turns_ : atomic_turns_;
    if (all.empty()) all.resize(size_t{1} << turn_bits);
    bool is_combined = !is_float && most_on_one_address(mask, address) == static_cast<uint32_t>(__builtin_popcount(mask));
    uint64_t sector[32];
    for (uint32_t lane = 0; lane < 32; ++lane) sector[lane] = address[lane] / sector_bytes;
    for_each_address(mask, sector, [&](uint64_t at, uint32_t lanes) {
        uint64_t turns = is_combined ? 1 : static_cast<uint64_t>(__builtin_popcount(lanes));
        all[(at * 0x9e3779b97f4a7c15u) >> (64 - turn_bits)] += turns;
    });
}

// The banks of constants and parameters give one address at a time; the first comes with the instruction.
void BlockProfile::access_bank(Figures &figures, uint32_t mask, const uint64_t *address) {
    uint32_t more = distinct_addresses(mask, address) - 1;
    figures.shared_wavefronts += more;
    figures.shared_wavefronts_ideal += more;  // no conflict: nothing but fewer addresses would help
}

// 8 bytes to a lane are asked for by half warps, 16 by quarters.
void BlockProfile::access_shared(const WarpContext &warp, const EmuSite &site, Figures &figures, uint32_t mask,
                                 const uint64_t *address) {
    uint32_t lanes = site.size <= 4 ? 32 : std::max(1u, 128u / site.size);
    bool in_order = mask == all_lanes && address[0] % site.size == 0 &&
                    (Touched::is_consecutive(address, site.size) || Touched::is_consecutive(address, 0));
    for (uint32_t first = 0; first < 32; first += lanes) {
        uint32_t part = mask & (lanes == 32 ? all_lanes : ((1u << lanes) - 1) << first);
        if (!part) continue;
        ++figures.shared_wavefronts_ideal;
        figures.shared_wavefronts +=
            in_order ? 1 : wavefronts(part, address, site.size, reinterpret_cast<uint64_t>(warp.shared));
    }
}

void BlockProfile::ask_l2(uint64_t line, uint32_t sectors, Kind kind) {
    uint64_t word = line << 6 | uint64_t{kind} << 4;
    if (!stream_.empty() && (stream_.back() & ~uint64_t{15}) == word) {
        stream_.back() |= sectors;
        return;
    }
    stream_.push_back(word | sectors);
    if (stream_.size() % Profile::long_stream == 0) profile_.take(number_, stream_, false);
}

}  // namespace emu
