"""When a process has been timed often enough: nvbench's idea of it, criterion by criterion.

Each criterion is told of all samples so far, after every burst that counts, and answers whether there are enough.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from judge.bench.statistics import relative_error

#: Verified calls that a process makes at the least.
LEAST_SAMPLES = 50


class Criterion(Protocol):
    """Told of all samples so far, after every burst that counts."""

    def is_met(self, samples: Sequence[float], elapsed_s: float) -> bool:
        """Whether they are enough."""


@dataclass
class Precise:
    """The median is known to ``target`` of itself (half its 95 % interval)."""

    target: float = 0.002

    def is_met(self, samples: Sequence[float], elapsed_s: float) -> bool:  # noqa: ARG002 -- one form for all of them
        return relative_error(samples) <= self.target


@dataclass
class Plateau:
    """More samples no longer help: the relative error has stayed within ``change`` of itself over ``window`` looks.

    While noise averages out the error falls with the root of the number of samples; it stays where it is once what is
    left does not average out.
    """

    window: int = 5
    change: float = 0.1
    _errors: deque[float] = field(default_factory=deque)

    def is_met(self, samples: Sequence[float], elapsed_s: float) -> bool:  # noqa: ARG002 -- one form for all of them
        self._errors.append(relative_error(samples))
        if len(self._errors) > self.window:
            self._errors.popleft()
        largest, least = max(self._errors), min(self._errors)
        return len(self._errors) == self.window and largest - least <= self.change * largest


@dataclass
class OutOfTime:
    """The time is up."""

    budget_s: float

    def is_met(self, samples: Sequence[float], elapsed_s: float) -> bool:  # noqa: ARG002 -- one form for all of them
        return elapsed_s >= self.budget_s


@dataclass
class StoppingRule:
    """Never before ``least`` samples, whatever they take; then as soon as one criterion is met. For one process."""

    least: int = LEAST_SAMPLES
    budget_s: float = 2.0
    target: float = 0.002

    def __post_init__(self) -> None:
        self._criteria: dict[str, Criterion] = {
            "precise": Precise(self.target),
            "plateau": Plateau(),
            "out of time": OutOfTime(self.budget_s),
        }

    def reason_to_stop(self, samples: Sequence[float], elapsed_s: float, *, settled: bool = True) -> str:
        """Which criterion is met: ``precise``, ``plateau``, ``out of time``; empty to go on. ``elapsed_s`` is what
        this process has taken so far. While something else is not ``settled``, only the time can be up."""
        if len(samples) < self.least:
            return ""
        met = [name for name, criterion in self._criteria.items() if criterion.is_met(samples, elapsed_s)]
        return next((name for name in met if settled or name == "out of time"), "")
