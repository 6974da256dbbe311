"""Computes the modelled time of a program: similar launches are grouped, and the groups run one after the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Sequence

from emulator.model.bounds import SECTOR_BYTES
from emulator.model.gpu import Gpu
from emulator.model.lines import line_shares
from emulator.model.merging import added, mean
from emulator.model.time import ModelledTime, modelled_time
from emulator.model.transfers import host_times, transfer_times
from emulator.profile import Counters, LaunchProfile
from emulator.profile.counters import add
from emulator.replay.recording import Transfers
from emulator.runtime.report import Dim3, LaunchStats
from emulator.wording import CUDA, Wording
from records import dataclass

#: Goes up with every change that gives another time for the same profile: times of two versions are not comparable.
MODEL_VERSION = 6
_MOST_REASONS = 8
_MOST_LINES = 10
#: Fraction of the program's time below which a kernel or transfer is not explained.
_SIGNIFICANT = 0.15
#: Counters that, besides warp instructions, must be similar within a group.
_GROUPED_COUNTS = ("global_requests", "global_sectors", "l2_sectors", "missed_loads", "shared_wavefronts", "atomics")
#: Counts smaller than this fraction of the warp instructions are ignored when launches are compared (its reciprocal).
_SMALL = 16


@dataclass(frozen=True, slots=True)
class LaunchGroup:
    """``count`` similar launches of one kernel in one shape. ``profile`` is their sum (``merging.added``)."""

    kernel: str
    grid: Dim3
    block: Dim3
    count: int
    profile: LaunchProfile

    def mean(self) -> LaunchStats:
        """Returns the mean launch of the group."""
        profile = mean(self.profile, self.count)
        instructions = sum(profile.totals.warp_instructions.values())
        return LaunchStats(self.kernel, self.grid, self.block, instructions, 0.0, profile)


@dataclass(frozen=True, slots=True)
class KernelTime:
    """The time of a group: ``seconds`` of all its launches, ``each`` of the mean launch."""

    group: LaunchGroup
    seconds: float
    each: ModelledTime


@dataclass(frozen=True, slots=True)
class LineTime:
    """The work of a source line in all launches, and its share of the program's time."""

    file: str
    line: int
    share: float
    counters: Counters


@dataclass(frozen=True, slots=True)
class ProgramTime:
    """The time of a program whose launches, copies and memsets run in one stream.

    ``seconds``: from before the first launch to after the last. What the host computes while the device has work goes
    on beside that; the rest of it comes on top. ``kernels``: the slowest first. ``limiter``: that of the slowest
    kernel, or a kind of copy or the host if that takes longer. ``why``: advice on every significant kernel and
    transfer. ``lines``: the ten most expensive.
    """

    seconds: float
    limiter: str
    kernels: tuple[KernelTime, ...]
    why: tuple[str, ...]
    lines: tuple[LineTime, ...]


def group_launches(launches: Iterable[LaunchStats], most: int | None = None) -> tuple[LaunchGroup, ...]:
    """Groups the profiled launches of one kernel in one shape whose profiles are similar.

    The groups are in the order of their first launches. Once there are ``most`` groups, a launch that fits in none is
    added to the last group of its kernel, or to the last group of all.
    """
    groups: dict[tuple[str, Dim3, Dim3, Hashable], LaunchGroup] = {}
    for launch in launches:
        if launch.profile is None:
            continue
        key = (launch.kernel, launch.grid, launch.block, _similarity_key(launch.profile))
        if key not in groups and most is not None and len(groups) >= most:
            key = next((one for one in reversed(groups) if one[0] == launch.kernel), next(reversed(groups)))
        known = groups.get(key)
        if known is None:
            groups[key] = LaunchGroup(launch.kernel, launch.grid, launch.block, 1, launch.profile)
        else:
            profile = added(known.profile, launch.profile)
            groups[key] = dataclasses.replace(known, count=known.count + 1, profile=profile)
    return tuple(groups.values())


def _similarity_key(profile: LaunchProfile) -> Hashable:
    """Returns a key that launches share if each of their counts is equal to within a factor of two, or is small.

    Launches with different limiters must not be averaged: together they take longer than as many mean launches.
    """
    totals = profile.totals
    counts = {
        **totals.warp_instructions,
        **totals.flops,
        **{name: getattr(totals, name) for name in _GROUPED_COUNTS},
        "dram": (profile.dram_read_bytes + profile.dram_write_bytes) // SECTOR_BYTES,
    }
    least = totals.total_warp_instructions // _SMALL
    sizes = frozenset((name, count.bit_length()) for name, count in counts.items() if count > least)
    return profile.dynamic_shared_bytes, sizes


def program_time(
    groups: Sequence[LaunchGroup],
    gpu: Gpu,
    transfers: Transfers = Transfers(),  # noqa: B008 - frozen
    wording: Wording = CUDA,
) -> ProgramTime:
    """Returns the time of a program; that of an empty call for one without launches and transfers."""
    kernels = []
    for group in groups:
        each = modelled_time(group.mean(), gpu, wording)
        kernels.append(KernelTime(group, each.seconds * group.count, each))
    kernels.sort(key=lambda kernel: -kernel.seconds)
    transfer_seconds = transfer_times(transfers, gpu)
    device_s = gpu.launch.first_s + sum(kernel.seconds for kernel in kernels) + sum(transfer_seconds.values())
    operations = sum(group.count for group in groups) + transfers.operations
    alone_s, beside_s = host_times(transfers, operations, gpu)
    seconds = alone_s + max(device_s, beside_s)
    if seconds > device_s:
        transfer_seconds["computations on the host"] = seconds - device_s
    reasons = tuple(
        f"{what} take {transfer_s / seconds:.0%} of the time"
        for what, transfer_s in transfer_seconds.items()
        if transfer_s > _SIGNIFICANT * seconds
    )
    costs = {kernel.each.limiter: kernel.seconds for kernel in kernels[:1]} | transfer_seconds
    limiter = max(costs, key=lambda what: costs[what], default="launch overhead")
    if not kernels:
        return ProgramTime(seconds, limiter, (), (*reasons, "no kernel was launched"), ())
    reasons = (*reasons, *_reasons(kernels, seconds))[:_MOST_REASONS]
    return ProgramTime(seconds, limiter, tuple(kernels), reasons, _lines(kernels, seconds, gpu))


def _lines(kernels: Sequence[KernelTime], seconds: float, gpu: Gpu) -> tuple[LineTime, ...]:
    found: dict[tuple[str, int], LineTime] = {}
    for kernel in kernels:
        profile = kernel.group.profile
        shares = line_shares(kernel.group.mean().profile or profile, gpu, kernel.each.parts)
        for line, share in zip(profile.lines, shares, strict=True):
            before = found.get((line.file, line.line))
            counters = line.counters if before is None else add((before.counters, line.counters))
            whole = share * kernel.seconds / seconds + (0.0 if before is None else before.share)
            found[line.file, line.line] = LineTime(line.file, line.line, whole, counters)
    return tuple(sorted(found.values(), key=lambda line: -line.share)[:_MOST_LINES])


def _reasons(kernels: Sequence[KernelTime], seconds: float) -> tuple[str, ...]:
    significant = [kernel for kernel in kernels if kernel.seconds > _SIGNIFICANT * seconds] or list(kernels[:1])
    several = len({kernel.group.kernel for kernel in kernels}) > 1
    reasons = []
    for kernel in significant:
        prefix = f"{kernel.group.kernel}: " if several else ""
        reasons += [prefix + reason for reason in kernel.each.why]
    return tuple(dict.fromkeys(reasons))[:_MOST_REASONS]
