"""Divides the modelled time of a launch among its source lines."""

from __future__ import annotations

from collections.abc import Mapping

from emulator.model.bounds import pipe_cycles, share_from_dram, waiting_cycles
from emulator.model.gpu import Gpu
from emulator.profile import Counters, LaunchProfile


def line_shares(profile: LaunchProfile, gpu: Gpu, parts: Mapping[str, float]) -> tuple[float, ...]:
    """Returns the share of each of ``profile.lines`` in the time.

    A line's share is the mean of its shares in the bounds, weighted by the square of the bound's seconds in ``parts``,
    because the largest bound decides. The shares add up to 1 if the profile has all lines.
    """
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
    """Returns the counted work's contribution to each bound, in the bound's own unit."""
    pipes = pipe_cycles(counters, gpu)
    # The two share a pipe, and lines differ in which of the two names it gets.
    pipes["shared-memory bandwidth"] = pipes["L1 bandwidth"] = pipes["shared-memory bandwidth"] + pipes["L1 bandwidth"]
    return {
        **pipes,
        "DRAM bandwidth": counters.l2_sectors,
        "L2 bandwidth": counters.l2_sectors,
        "contended atomics": counters.atomics,
        "latency": waiting_cycles(counters, gpu, counters.missed_loads * share_from_dram(profile)),
    }
