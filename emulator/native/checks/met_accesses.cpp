#include "checks/met_accesses.h"

#include "checks/block_races.h"
#include "checks/late_stores.h"
#include "exec/block.h"

namespace emu {

namespace {

bool of_one_warp(const Trace &a, const Trace &b) { return a.block == b.block && a.thread / 32 == b.thread / 32; }

}  // namespace

bool MetAccesses::comes_after(const Trace &then, const WarpContext &warp, uint32_t lane) const {
    if (then.block == block_) return clocks_.knows(warp.warp_id, lane, then.thread, then.clock);
    return check_.published.known(then.block, then.thread / 32, then.clock, clocks_.seen(warp.warp_id));
}

bool MetAccesses::may_be_told(const Trace &read) const {
    return has_looked_ && read.block != block_ && check_.lacks_fence(read, read.clock);
}

bool MetAccesses::meets_in_scope(const Trace &one, const Trace &other) const {
    return one.block == other.block || !((kernel_.sites[one.site].order | kernel_.sites[other.site].order) & EMU_BLOCK);
}

void MetAccesses::of_lanes(const WarpContext &warp, uint32_t index, uint32_t lanes, const uint64_t *address,
                           Cells &shared) {
    const EmuSite &site = kernel_.sites[index];
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = __builtin_ctz(rest);
        uint64_t at = address[lane], offset = at - reinterpret_cast<uint64_t>(warp.shared);
        if (at % site.size || offset >= warp.shared_bytes || site.size > warp.shared_bytes - offset) continue;
        shared.each(offset, site.size, [&](const Cell &cell) {
            const Trace &then = cell.write;
            if (then.empty() || !then.strong || then.block != block_ || then.thread / 32 != warp.warp_id ||
                then.thread % 32 == lane || then.clock <= clocks_.met(warp.warp_id))
                return false;
            const EmuSite &stored = kernel_.sites[then.site];
            if (stored.kind != EMU_STORE || stored.order & EMU_CONSTANT) return false;
            check_.meet_strong({warp, index, lane, at, block_, then, true, false});
            return true;
        });
    }
}

void MetAccesses::meet_strong(const Touch &touch) {
    const auto &[cell, now, writes, in_flight, warp, site, lane, at] = touch;
    const EmuSite &own = kernel_.sites[site], &other = kernel_.sites[cell.write.site];
    if (!can_be_late(other) || other.order & EMU_RELEASE || own.order & EMU_GUESS) return;
    bool is_of_other = cell.write.block != block_ && !comes_after(cell.write, warp, lane);
    bool is_sum = other.kind == EMU_ATOMIC && other.atomic_form & EMU_ADDS;
    if (writes && !(own.atomic_form & EMU_AWAITED)) {
        if (is_of_other && is_sum && cell.write.site == site) check_.note_sum(site, cell.write);
    } else if (is_of_other && now.strong && meets_in_scope(cell.write, now)) {
        check_.meet_strong({warp, site, lane, at, block_, cell.write, true, false});
    } else if (const Trace &before = check_.summed_with(cell.write.site);
               is_sum && !before.empty() && before.block != block_) {
        check_.meet_strong({warp, site, lane, at, block_, before, true, false});
    }
}

template <class Meets>
const Trace *MetAccesses::met_write(const Touch &touch, Meets meets) const {
    const Trace *change = touch.writes || touch.in_flight ? nullptr : check_.last_change(touch.cell);
    if (!change) return &touch.cell.write;
    return meets(*change) ? change : nullptr;
}

bool MetAccesses::touch(const Touch &touch) {
    const auto &[cell, now, writes, in_flight, warp, site, lane, at] = touch;
    const Trace *race = nullptr;
    if (cell.write.strong && !home_of(warp, at)) meet_strong(touch);
    auto meets = [&](const Trace &then) {
        if (&then == &cell.write && in_flight && kernel_.sites[then.site].order & EMU_LATER) return !then.empty();
        if (then.empty() || (then.strong && now.strong && meets_in_scope(then, now)) || comes_after(then, warp, lane))
            return false;
        // Which lane of a warp has the last word is not known on hardware either, but one of them has it.
        return !(&then == &cell.write && writes && then.site == now.site && then.block == now.block &&
                 then.thread / 32 == now.thread / 32);
    };
    if (meets(cell.write))
        race = met_write(touch, meets);
    else if (writes && meets(cell.read) && !may_be_told(cell.read))
        race = &cell.read;
    else if (writes && meets(cell.other) && !may_be_told(cell.other))
        race = &cell.other;
    bool of_write = race && race != &cell.read && race != &cell.other;
    if (race) check_.meet({warp, site, lane, at, block_, *race, of_write, of_write && in_flight});
    if (writes) {
        cell.write = now;
        cell.read = cell.other = {};
    } else if (cell.read.empty() || comes_after(cell.read, warp, lane) ||
               (of_one_warp(cell.read, now) && !cell.other.empty() && !of_one_warp(cell.other, now))) {
        cell.read = now;
    } else {
        cell.other = now;
    }
    return race != nullptr;
}

}  // namespace emu
