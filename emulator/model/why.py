"""Explains to the author of a kernel why a launch is slow: the cause, its line, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator

from emulator.model.bounds import PRESUMED_REGISTERS, SECTOR_BYTES, WARP, Bounds
from emulator.model.gpu import Gpu
from emulator.profile import Counters, LaunchProfile, LineProfile
from emulator.wording import CUDA, Wording

#: Ratio to the least possible traffic or wavefronts from which a line is reported.
_WASTEFUL = 1.5
#: Fraction of the whole from which a line is reported.
_SIGNIFICANT_SHARE = 0.1
#: Fraction of idle lanes from which divergence is reported.
_IDLE = 0.25
#: Fraction of a line's lanes that load nothing from which masks are reported: a last block may be half empty.
_MASKED = 0.5
#: What a sentence is about, by words that only such sentences have.
TOPICS = {
    "launch overhead": "launch-overhead",
    "limited by latency": "latency",
    "get a block": "tail",
    "get a program": "tail",
    "the last of which": "tail",
    "bytes where": "coalescing",
    "bank conflicts:": "bank-conflicts",
    "do not exist": "latency",
    "are masked off in": "divergence",
    "(divergence)": "divergence",
    "atomic operations": "atomics",
    "contended atomics": "atomics",
    " occupancy, held down": "occupancy",
}
#: Fraction of DRAM's peak above which there is little to gain: no kernel was measured far above it in a single call.
_GOOD = 0.7


def reasons(
    profile: LaunchProfile, gpu: Gpu, bounds: Bounds, limiter: str, seconds: float, wording: Wording = CUDA
) -> tuple[str, ...]:
    """Returns sentences: first the limiter, then what makes it worse, by line, then the shape of the launch."""
    found = [
        _limit(profile, gpu, bounds, limiter, seconds, wording),
        *_few_blocks(gpu, bounds, wording),
        *_masked(profile, wording),
        *_uncoalesced(profile, wording),
        *_conflicts(profile, wording),
        *_small_blocks(bounds),
        *_divergence(profile, bounds, wording),
        *_atomics(profile, limiter, wording),
        *_low_occupancy(profile, bounds, limiter, wording),
        *_local(profile, wording),
    ]
    return tuple(found)


def topic_of(sentence: str) -> str | None:
    """Returns the topic of a sentence of ``reasons``, a value of ``TOPICS``, or None if it has none of them."""
    return next((topic for words, topic in TOPICS.items() if words in sentence), None)


def _limit(profile: LaunchProfile, gpu: Gpu, bounds: Bounds, limiter: str, seconds: float, wording: Wording) -> str:
    if limiter == "launch overhead":
        return "limited by launch overhead: there is too little work in a launch for anything else to matter"
    if limiter == "latency":
        return (
            "limited by latency: warps wait for memory and results most of the time, and there are too few of them, "
            f"or too little under way in each, to hide it{wording.latency}"
        )
    share = bounds.seconds[limiter] / seconds
    if limiter != "DRAM bandwidth":
        return f"limited by {limiter}: busy {_percent(share)} of the time"
    reached = (profile.dram_read_bytes + profile.dram_write_bytes) / seconds / gpu.memory.dram_peak_bytes_per_s
    said = f"limited by DRAM bandwidth: {_percent(reached)} of peak"
    if reached < _GOOD:
        return said
    if _wasted(profile.totals):
        return f"{said}, but not all that it moves is needed"
    return f"{said}: near the best possible for the bytes it moves"


def _few_blocks(gpu: Gpu, bounds: Bounds, wording: Wording) -> Iterator[str]:
    if bounds.blocks < gpu.multiprocessors:
        yield f"only {bounds.blocks} of {gpu.multiprocessors} multiprocessors get a {wording.block}"
        return
    at_once = bounds.occupancy.blocks * gpu.multiprocessors
    rest = bounds.blocks % at_once
    if 1 < bounds.rounds <= 3 and 0 < rest < at_once / 3:
        yield (
            f"{bounds.blocks} {wording.block}s take {bounds.rounds} rounds, the last of which has {rest} where "
            f"{at_once} could run: most of the GPU waits for it"
        )


def _masked(profile: LaunchProfile, wording: Wording) -> Iterator[str]:
    whole = profile.totals.total_warp_instructions
    for line in profile.lines:
        counters = line.counters
        lanes = WARP * counters.warp_instructions.get("load", 0)
        if not wording.masked or not lanes or counters.total_warp_instructions < _SIGNIFICANT_SHARE / 2 * whole:
            continue
        masked = 1 - counters.global_load_lanes / lanes
        if masked >= _MASKED:
            off = min(WARP - 1, round(WARP * masked))
            more = "more than " if WARP * masked > off + 0.5 else ""
            where = _where(line, profile)
            yield f"the loads are masked off in {more}{off} of {WARP} lanes ({where}): {wording.masked}"


def _uncoalesced(profile: LaunchProfile, wording: Wording) -> Iterator[str]:
    excess = profile.totals.global_sectors - profile.totals.global_sectors_ideal
    for line in profile.lines:
        counters = line.counters
        wasted = counters.global_sectors - counters.global_sectors_ideal
        if not _wasted(counters) or wasted < _SIGNIFICANT_SHARE * excess:
            continue
        touched = counters.global_sectors / counters.global_requests
        least = counters.global_sectors_ideal / counters.global_requests
        factor = counters.global_sectors / counters.global_sectors_ideal
        yield (
            f"global accesses of a warp touch {_round(touched)} sectors of {SECTOR_BYTES} bytes where {_round(least)} "
            f"would do ({_where(line, profile)}): {_round(factor)}x the memory traffic; {wording.coalescing}"
        )


def _wasted(counters: Counters) -> bool:
    return counters.global_sectors_ideal > 0 and counters.global_sectors >= _WASTEFUL * counters.global_sectors_ideal


def _conflicts(profile: LaunchProfile, wording: Wording) -> Iterator[str]:
    excess = profile.totals.shared_wavefronts - profile.totals.shared_wavefronts_ideal
    for line in profile.lines:
        wavefronts, least = line.counters.shared_wavefronts, line.counters.shared_wavefronts_ideal
        if least and wavefronts >= _WASTEFUL * least and wavefronts - least >= _SIGNIFICANT_SHARE * excess:
            yield f"bank conflicts: {_round(wavefronts / least)}-way ({_where(line, profile)}){wording.conflicts}"


def _small_blocks(bounds: Bounds) -> Iterator[str]:
    missing = 1 - _lanes_of_a_warp(bounds) / WARP
    if missing >= _SIGNIFICANT_SHARE:
        count = "1 thread" if bounds.threads == 1 else f"{bounds.threads} threads"
        yield (
            f"blocks of {count}: {_percent(missing)} of the lanes of their warps do not exist; use a "
            f"multiple of {WARP}, 128 or more"
        )


def _lanes_of_a_warp(bounds: Bounds) -> float:
    """Returns how many lanes a block's warps have on average: the last may lack some."""
    return bounds.threads / -(-bounds.threads // WARP)


def _divergence(profile: LaunchProfile, bounds: Bounds, wording: Wording) -> Iterator[str]:
    whole = sum(profile.totals.warp_instructions.values())
    for line in profile.lines:
        instructions = sum(line.counters.warp_instructions.values())
        if not instructions or instructions < _SIGNIFICANT_SHARE / 2 * whole:
            continue
        idle = 1 - line.counters.thread_instructions / instructions / _lanes_of_a_warp(bounds)
        if idle >= _IDLE:
            yield f"{_percent(idle)} of the lanes idle ({_where(line, profile)}): {wording.divergence}"


def _atomics(profile: LaunchProfile, limiter: str, wording: Wording) -> Iterator[str]:
    totals = profile.totals
    if totals.atomics and (totals.atomic_serialized > totals.atomics / 4 or limiter.endswith("atomics")):
        worst = max(profile.lines, key=lambda line: line.counters.atomics, default=None)
        where = f" ({_where(worst, profile)})" if worst is not None and worst.counters.atomics else ""
        yield (
            f"{totals.atomics:,} atomic operations{where}, of which {totals.atomic_serialized:,} wait for another lane "
            f"of their warp at the same address: {wording.combining}"
        )


def _low_occupancy(profile: LaunchProfile, bounds: Bounds, limiter: str, wording: Wording) -> Iterator[str]:
    occupancy = bounds.occupancy
    if limiter not in ("latency", "DRAM bandwidth", "L2 bandwidth") or occupancy.ratio > 0.5:
        return
    shared_bytes = profile.static_shared_bytes + profile.dynamic_shared_bytes
    because = {
        "threads": "the block's size",
        "blocks": "the number of blocks that fit, each of which is small",
        "registers": f"{profile.registers_per_thread or PRESUMED_REGISTERS} registers a thread",
        "shared memory": f"{shared_bytes:,} bytes of shared memory a block",
    }[occupancy.limiter]
    remedy = wording.occupancy.get(occupancy.limiter, "")
    yield (
        f"{_percent(occupancy.ratio)} occupancy, held down by {because}: fewer warps to hide latency with"
        f"{'; ' if remedy else ''}{remedy}"
    )


def _local(profile: LaunchProfile, wording: Wording) -> Iterator[str]:
    used = profile.totals.warp_instructions.get("local", 0)
    if used >= _SIGNIFICANT_SHARE * sum(profile.totals.warp_instructions.values()):
        yield f"local memory ({profile.local_bytes} bytes a thread): {wording.local}"


def _where(line: LineProfile, profile: LaunchProfile) -> str:
    alone = line.file.endswith(".cu") and len({other.file for other in profile.lines}) == 1
    # Of files elsewhere, the folders say nothing to the author.
    name = line.file.rpartition("/")[2] if line.file.startswith("/") else line.file
    return f"line {line.line}" if alone else f"{name}:{line.line}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _round(number: float) -> str:
    return f"{number:.0f}" if abs(number - round(number)) < 0.05 else f"{number:.1f}"
