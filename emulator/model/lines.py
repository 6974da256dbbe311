"""Which source lines the modelled time of a launch goes to."""

from __future__ import annotations

from collections.abc import Mapping

from emulator.model.bounds import pipe_cycles, share_from_dram, waiting_cycles
from emulator.model.gpu import Gpu
from emulator.profile import Counters, LaunchProfile


def line_shares(profile: LaunchProfile, gpu: Gpu, parts: Mapping[str, float]) -> tuple[float, ...]:
    """The share of each of ``profile.lines`` in the time: its shares of the bounds, each weighed by the square of its
    seconds, since the larger bound is the one that counts. Their sum is 1 where no line is left out."""
    whole = _costs(profile.totals, profile, gpu)
    weights = {what: parts.get(what, 0.0) ** 2 if cost else 0.0 for what, cost in whole.items()}
    total = sum(weights.values())
    if not total:
        return (0.0,) * len(profile.lines)
    shares = []
    for line in profile.lines:
        costs = _costs(line.counters, profile, gpu)
        of_whole = sum(weights[what] * min(1.0, costs[what] / whole[what]) for what in whole if weights[what])
        shares.append(of_whole / total)
    return tuple(shares)


def _costs(counters: Counters, profile: LaunchProfile, gpu: Gpu) -> dict[str, float]:
    """What a line contributes to each bound, in the bound's own unit."""
    pipes = pipe_cycles(counters, gpu)
    # Which of the two names it has differs from line to line.
    pipes["shared-memory bandwidth"] = pipes["L1 bandwidth"] = pipes["shared-memory bandwidth"] + pipes["L1 bandwidth"]
    return {
        **pipes,
        "DRAM bandwidth": counters.l2_sectors,
        "L2 bandwidth": counters.l2_sectors,
        "contended atomics": counters.atomics,
        "latency": waiting_cycles(counters, gpu, counters.missed_loads * share_from_dram(profile)),
    }
