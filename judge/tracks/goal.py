"""Goals: bounds on figures of a kernel's profile, which show that it does what a lesson teaches.

The figures come from what a judgement says of its benchmark cases, so a stored judgement can be checked at any time.
Counts are sums over all launches of a call. A figure that a judgement lacks reaches no goal: those that are counted
are in judgements of the emulator only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from judge.judgement import Judgement
from judge.measurements import BenchmarkCase, ModelledCase, ModelledKernel
from judge.verdict import Verdict
from records import dataclass

Count = Callable[[ModelledKernel], float]
Find = Callable[[BenchmarkCase], float | None]

_GOAL = re.compile(r"(?P<figure>[a-z0-9_]+) (?P<bound><=|>=) (?P<limit>\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a benchmark case.

    ``words`` say it with its unit, ``{}`` being the number; ``of`` returns None where nothing is known.
    """

    name: str
    words: str
    of: Find


def _over_kernels(top: Count, bottom: Count) -> Find:
    """Returns the figure that divides the sum of ``top`` over all kernels by that of ``bottom``."""

    def figure(case: BenchmarkCase) -> float | None:
        if not isinstance(case, ModelledCase):
            return None
        divisor = sum(map(bottom, case.kernels))
        return sum(map(top, case.kernels)) / divisor if divisor else None

    return figure


def _over_task(top: Count, bottom: Callable[[ModelledCase], float | None]) -> Find:
    """Returns the figure that divides the sum of ``top`` over all kernels by a number that the task states."""

    def figure(case: BenchmarkCase) -> float | None:
        divisor = bottom(case) if isinstance(case, ModelledCase) else None
        return sum(map(top, case.kernels)) / divisor if divisor and isinstance(case, ModelledCase) else None

    return figure


def _instructions(kernel: ModelledKernel) -> float:
    return sum(kernel.instructions.values())


def _kib(case: ModelledCase) -> float:
    return case.bytes / 1024


def _roofline_share(case: BenchmarkCase) -> float | None:
    return 100 * case.roofline_s / case.value if case.roofline_s and case.value > 0 else None


def _launches(case: BenchmarkCase) -> float | None:
    return float(case.launches) if isinstance(case, ModelledCase) else None


_ALL = (
    Figure(
        "sectors_over_ideal",
        "{}× the minimum of memory sectors",
        _over_kernels(lambda kernel: kernel.global_sectors, lambda kernel: kernel.global_sectors_ideal),
    ),
    Figure(
        "requests_per_kib",
        "{} memory requests for each KiB of data",
        _over_task(lambda kernel: kernel.global_requests, _kib),
    ),
    Figure(
        "dram_over_task",
        "{}× the DRAM traffic that the task needs",
        _over_task(lambda kernel: kernel.dram_bytes, lambda case: case.bytes),
    ),
    Figure(
        "global_bytes_per_flop",
        "{} bytes of global memory traffic for each operation",
        _over_task(lambda kernel: 32 * kernel.global_sectors, lambda case: case.flops),
    ),
    Figure(
        "wavefronts_over_ideal",
        "{}× the minimum of shared-memory wavefronts",
        _over_kernels(lambda kernel: kernel.shared_wavefronts, lambda kernel: kernel.shared_wavefronts_ideal),
    ),
    Figure(
        "active_lanes",
        "{} % of lanes active",
        _over_kernels(lambda kernel: 100 * kernel.active_lanes * _instructions(kernel), _instructions),
    ),
    Figure(
        "atomics_per_kib",
        "{} global atomics for each KiB of data",
        _over_task(lambda kernel: kernel.global_atomics, _kib),
    ),
    Figure(
        "instructions_per_kib",
        "{} warp instructions for each KiB of data",
        _over_task(_instructions, _kib),
    ),
    Figure(
        "instructions_per_kflop",
        "{} warp instructions for each 1,000 operations",
        _over_task(lambda kernel: 1000 * _instructions(kernel), lambda case: case.flops),
    ),
    Figure(
        "tensor_share",
        "{} % of operations on tensor cores",
        _over_kernels(
            lambda kernel: 100 * sum(count for kind, count in kernel.flops.items() if kind.startswith("tensor_")),
            lambda kernel: sum(kernel.flops.values()),
        ),
    ),
    Figure("launches", "{} kernel launches for each call", _launches),
    Figure("roofline_share", "{} % of the roofline", _roofline_share),
)
#: The figures that goals can be about, by name.
FIGURES: Mapping[str, Figure] = {figure.name: figure for figure in _ALL}


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound that a figure keeps to in every benchmark case."""

    figure: Figure
    at_most: bool
    limit: float

    @property
    def key(self) -> str:
        """The goal as its file has it, such as ``sectors_over_ideal <= 1.2``."""
        return f"{self.figure.name} {'<=' if self.at_most else '>='} {self.limit:g}"

    @property
    def text(self) -> str:
        """The goal in words."""
        return f"{'at most' if self.at_most else 'at least'} {self.said(f'{self.limit:g}')}"

    def said(self, value: str) -> str:
        """Returns a value of the figure in words."""
        return self.figure.words.format(value)

    def found(self, cases: Iterable[BenchmarkCase]) -> float | None:
        """Returns the worst of the figures of the cases; None where one is unknown, or there is no case."""
        values = [self.figure.of(case) for case in cases]
        known = [value for value in values if value is not None]
        if not known or len(known) < len(values):
            return None
        return max(known) if self.at_most else min(known)

    def is_reached(self, value: float | None) -> bool:
        """Returns whether a figure keeps to the bound."""
        return value is not None and (value <= self.limit if self.at_most else value >= self.limit)


@dataclass(frozen=True, slots=True)
class GoalResult:
    """The result of one judgement for a goal. ``value`` is None where the judgement does not have the figure."""

    goal: Goal
    value: float | None

    @property
    def reached(self) -> bool:
        """Whether the goal is reached."""
        return self.goal.is_reached(self.value)


def parse_goal(text: str) -> Goal:
    """Returns the goal that a text such as ``active_lanes >= 90`` states. Raises ValueError."""
    found = _GOAL.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a goal; write a figure, <= or >=, and a number: sectors_over_ideal <= 1.2")
    if found["figure"] not in FIGURES:
        raise ValueError(f"there is no figure {found['figure']}; there are {', '.join(FIGURES)}")
    return Goal(FIGURES[found["figure"]], found["bound"] == "<=", float(found["limit"]))


def check_goal(goal: Goal, judgement: Judgement) -> GoalResult | None:
    """Returns the result of a judgement for a goal; None unless it is accepted and timed."""
    if judgement.verdict is not Verdict.ACCEPTED or judgement.measurement is None:
        return None
    return GoalResult(goal, goal.found(judgement.measurement.cases))
