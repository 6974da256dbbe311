#include "exec/mbarrier.h"

#include "exec/block.h"
#include "exec/cluster.h"
#include "exec/semantics.h"

namespace emu {

namespace {

constexpr uint32_t count_bits = 20, byte_bits = 21;
constexpr uint64_t max_arrivals = (uint64_t{1} << count_bits) - 1, byte_mask = (uint64_t{1} << byte_bits) - 1;

struct Phase {
    uint64_t pending, expected, number;
    int64_t bytes;

    explicit Phase(uint64_t word)
        : pending(word & max_arrivals),
          expected(word >> count_bits & max_arrivals),
          number(word >> (2 * count_bits + byte_bits)),
          bytes(static_cast<int64_t>(word << (64 - byte_bits - 2 * count_bits)) >> (64 - byte_bits)) {}
    uint64_t word() const {
        return (pending & max_arrivals) | (expected & max_arrivals) << count_bits |
               (static_cast<uint64_t>(bytes) & byte_mask) << 2 * count_bits | number << (2 * count_bits + byte_bits);
    }
    // Begins the next phase where this one waits for nothing more.
    void settle() {
        if (pending & max_arrivals || bytes) return;
        pending = expected;
        ++number;
    }
};

uint64_t *word_at(uint64_t address) { return reinterpret_cast<uint64_t *>(address); }

}  // namespace

uint64_t arrive(uint64_t *mbarrier, uint32_t count, bool drop, uint32_t bytes) {
    uint64_t before = *mbarrier;
    Phase phase(before);
    phase.bytes += bytes;
    if (drop) phase.expected -= count;
    phase.pending -= count;
    phase.settle();
    *mbarrier = phase.word();
    return before;
}

void complete_bytes(uint64_t *mbarrier, uint32_t bytes) {
    Phase phase(*mbarrier);
    phase.bytes -= bytes;
    phase.settle();
    *mbarrier = phase.word();
}

MissingOfPhase missing_of_phase(const uint64_t *mbarrier) {
    Phase phase(*mbarrier);
    return {static_cast<uint32_t>(phase.pending), static_cast<int32_t>(phase.bytes)};
}

void expect_one_more(uint64_t *mbarrier) {
    Phase phase(*mbarrier);
    ++phase.pending;
    *mbarrier = phase.word();
}

}  // namespace emu

void emu_mbarrier_init(WarpContext *warp, uint32_t site, uint32_t lanes, uint64_t *address, const uint32_t *count) {
    emu::check(warp, site, lanes, address);
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = __builtin_ctz(lanes);
        emu::Phase phase(0);
        phase.pending = phase.expected = count[l];
        *emu::word_at(address[l]) = phase.word();
    }
    for (auto &observer : warp->block->observers) observer->change(*warp);
}

void emu_mbarrier_arrive(WarpContext *warp, uint32_t site, uint32_t lanes, uint64_t *address, const uint32_t *count,
                         uint32_t drop, const uint32_t *bytes, uint64_t *state) {
    emu::check(warp, site, lanes, address);
    warp->block->cluster().note_progress();
    for (auto &observer : warp->block->observers) observer->mbarrier_arrive(*warp, lanes, address);
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = __builtin_ctz(lanes);
        state[l] = emu::arrive(emu::word_at(address[l]), count[l], drop != 0, bytes ? bytes[l] : 0);
    }
}

void emu_mbarrier_bytes(WarpContext *warp, uint32_t site, uint32_t lanes, uint64_t *address, const uint32_t *bytes,
                        uint32_t have_come) {
    emu::check(warp, site, lanes, address);
    warp->block->cluster().note_progress();
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = __builtin_ctz(lanes);
        emu::complete_bytes(emu::word_at(address[l]), have_come ? bytes[l] : -bytes[l]);
    }
}

uint32_t emu_mbarrier_test(WarpContext *warp, uint32_t site, uint32_t lanes, uint64_t *address, const uint64_t *state,
                           uint32_t by_parity) {
    emu::check(warp, site, lanes, address);
    BlockContext &block = *warp->block;
    uint32_t complete = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t l = __builtin_ctz(left);
        if (block.copies_asynchronously()) block.async_copies().settle(address[l]);
        block.cluster().copies.settle(address[l]);
        uint64_t number = emu::Phase(*emu::word_at(address[l])).number;
        bool passed = by_parity ? (number & 1) != (state[l] & 1) : number != emu::Phase(state[l]).number;
        complete |= uint32_t{passed} << l;
    }
    if (complete) {
        block.cluster().note_progress();
        for (auto &observer : block.observers) observer->mbarrier_pass(*warp, complete, address);
    }
    if (complete != lanes) {
        warp->fuel = 0;  // the others' turn, that they may arrive
        uint32_t first = __builtin_ctz(lanes & ~complete);
        block.note_mbarrier_wait(*warp, site, first, address[first]);
        for (auto &observer : block.observers) observer->mbarrier_wait(*warp);
    }
    return complete;
}

void emu_mbarrier_pending(const uint64_t *state, uint32_t *count) {
    for (int l = 0; l < 32; ++l) count[l] = static_cast<uint32_t>(emu::Phase(state[l]).pending);
}
