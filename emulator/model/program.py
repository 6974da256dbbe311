"""The modelled time of a program: its launches, one after the other, those alike taken together."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from emulator.model.bounds import SECTOR_BYTES
from emulator.model.gpu import Gpu
from emulator.model.lines import line_shares
from emulator.model.merging import added, mean
from emulator.model.time import ModelledTime, modelled_time
from emulator.model.transfers import transfer_times
from emulator.profile import Counters, LaunchProfile
from emulator.profile.counters import add
from emulator.replay.recording import Transfers
from emulator.runtime.report import Dim3, LaunchStats

#: Raised whenever the model says something else of the same profile: times of two versions are not comparable.
MODEL_VERSION = 4
_MOST_REASONS = 8
_MOST_LINES = 10
#: Of the program's time: kernels below it are not worth a word.
_TELLING = 0.15
#: Beside warp instructions: what launches of one kind have about as much of.
_TELLING_COUNTS = ("global_requests", "global_sectors", "l2_sectors", "missed_loads", "shared_wavefronts", "atomics")
#: This share of the warp instructions.
_SMALL = 16


@dataclass(frozen=True, slots=True)
class LaunchGroup:
    """``count`` launches of one kernel in one shape. ``profile`` is their sum, but for what belongs to the kernel."""

    kernel: str
    grid: Dim3
    block: Dim3
    count: int
    profile: LaunchProfile

    def mean(self) -> LaunchStats:
        """A launch of the group as it is on average."""
        profile = mean(self.profile, self.count)
        instructions = sum(profile.totals.warp_instructions.values())
        return LaunchStats(self.kernel, self.grid, self.block, instructions, 0.0, profile)


@dataclass(frozen=True, slots=True)
class KernelTime:
    """The launches of a group: ``seconds`` of them all, ``each`` of one."""

    group: LaunchGroup
    seconds: float
    each: ModelledTime


@dataclass(frozen=True, slots=True)
class LineTime:
    """What a source line did in all launches, and its share of the program's time."""

    file: str
    line: int
    share: float
    counters: Counters


@dataclass(frozen=True, slots=True)
class ProgramTime:
    """``seconds`` on the GPU, from before the first launch to after the last, for launches, copies and memsets in one
    stream. ``kernels``: the costliest first, whose ``limiter`` this is, unless a kind of copy takes longer. ``why``
    comes from all that matter; ``lines``: the costliest ten."""

    seconds: float
    limiter: str
    kernels: tuple[KernelTime, ...]
    why: tuple[str, ...]
    lines: tuple[LineTime, ...]


def group_launches(launches: Iterable[LaunchStats], most: int | None = None) -> tuple[LaunchGroup, ...]:
    """The profiled launches, those of one kernel in one shape that did much the same together, in the order of their
    first.

    With ``most``, what comes after so many groups is counted into the last group of its kernel, or the last of all.
    """
    groups: dict[tuple[str, Dim3, Dim3, Hashable], LaunchGroup] = {}
    for launch in launches:
        if launch.profile is None:
            continue
        key = (launch.kernel, launch.grid, launch.block, _kind(launch.profile))
        if key not in groups and most is not None and len(groups) >= most:
            key = next((one for one in reversed(groups) if one[0] == launch.kernel), next(reversed(groups)))
        known = groups.get(key)
        if known is None:
            groups[key] = LaunchGroup(launch.kernel, launch.grid, launch.block, 1, launch.profile)
        else:
            profile = added(known.profile, launch.profile)
            groups[key] = dataclasses.replace(known, count=known.count + 1, profile=profile)
    return tuple(groups.values())


def _kind(profile: LaunchProfile) -> Hashable:
    """What launches must have in common: those that are held up by different things take longer than as many of their
    mean would. Each count within a factor of two, where it is not small beside the others."""
    totals = profile.totals
    counts = {
        **totals.warp_instructions,
        **totals.flops,
        **{name: getattr(totals, name) for name in _TELLING_COUNTS},
        "dram": (profile.dram_read_bytes + profile.dram_write_bytes) // SECTOR_BYTES,
    }
    least = totals.total_warp_instructions // _SMALL
    sizes = frozenset((name, count.bit_length()) for name, count in counts.items() if count > least)
    return profile.dynamic_shared_bytes, sizes


def program_time(
    groups: Sequence[LaunchGroup],
    gpu: Gpu,
    transfers: Transfers = Transfers(),  # noqa: B008 - frozen
) -> ProgramTime:
    """Without launches and transfers it is the time of an empty call."""
    kernels = []
    for group in groups:
        each = modelled_time(group.mean(), gpu)
        kernels.append(KernelTime(group, each.seconds * group.count, each))
    kernels.sort(key=lambda kernel: -kernel.seconds)
    moving = transfer_times(transfers, gpu)
    seconds = gpu.launch.first_s + sum(kernel.seconds for kernel in kernels) + sum(moving.values())
    reasons = tuple(
        f"{what} take {moving_s / seconds:.0%} of the time"
        for what, moving_s in moving.items()
        if moving_s > _TELLING * seconds
    )
    costs = {kernel.each.limiter: kernel.seconds for kernel in kernels[:1]} | moving
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
    telling = [kernel for kernel in kernels if kernel.seconds > _TELLING * seconds] or list(kernels[:1])
    several = len({kernel.group.kernel for kernel in kernels}) > 1
    reasons = []
    for kernel in telling:
        prefix = f"{kernel.group.kernel}: " if several else ""
        reasons += [prefix + reason for reason in kernel.each.why]
    return tuple(dict.fromkeys(reasons))[:_MOST_REASONS]
