#include "exec/mbarrier.h"

#include "exec/block.h"
#include "exec/semantics.h"

namespace emu {

namespace {

constexpr uint32_t count_bits = 20;
constexpr uint64_t max_arrivals = (uint64_t{1} << count_bits) - 1;

struct Phase {
    uint64_t pending, expected, number;

    explicit Phase(uint64_t word)
        : pending(word & max_arrivals), expected(word >> count_bits & max_arrivals), number(word >> 2 * count_bits) {}
    uint64_t word() const { return (pending & max_arrivals) | (expected & max_arrivals) << count_bits | number << 2 * count_bits; }
};

uint64_t *word_at(uint64_t address) { return reinterpret_cast<uint64_t *>(address); }

}  // namespace

uint64_t arrive(uint64_t *mbarrier, uint32_t count, bool drop) {
    uint64_t before = *mbarrier;
    Phase phase(before);
    if (drop) phase.expected -= count;
    phase.pending -= count;
    if (!(phase.pending & max_arrivals)) {
        phase.pending = phase.expected;
        ++phase.number;
    }
    *mbarrier = phase.word();
    return before;
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
                         uint32_t drop, uint64_t *state) {
    emu::check(warp, site, lanes, address);
    for (auto &observer : warp->block->observers) observer->mbarrier_arrive(*warp, lanes, address);
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = __builtin_ctz(lanes);
        state[l] = emu::arrive(emu::word_at(address[l]), count[l], drop != 0);
    }
}

uint32_t emu_mbarrier_test(WarpContext *warp, uint32_t site, uint32_t lanes, uint64_t *address, const uint64_t *state,
                           uint32_t by_parity) {
    emu::check(warp, site, lanes, address);
    uint32_t complete = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t l = __builtin_ctz(left);
        if (warp->block->copies_asynchronously()) warp->block->async_copies().settle(address[l]);
        uint64_t number = emu::Phase(*emu::word_at(address[l])).number;
        bool passed = by_parity ? (number & 1) != (state[l] & 1) : number != emu::Phase(state[l]).number;
        complete |= uint32_t{passed} << l;
    }
    if (complete) {
        for (auto &observer : warp->block->observers) observer->mbarrier_pass(*warp, complete, address);
    }
    if (complete != lanes) {
        warp->fuel = 0;  // the others' turn, that they may arrive
        for (auto &observer : warp->block->observers) observer->mbarrier_wait(*warp);
    }
    return complete;
}

void emu_mbarrier_pending(const uint64_t *state, uint32_t *count) {
    for (int l = 0; l < 32; ++l) count[l] = static_cast<uint32_t>(emu::Phase(state[l]).pending);
}
