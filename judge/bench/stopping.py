"""When enough timed calls have been made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge.bench.statistics import summarize


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """At least ``least`` calls, whatever they take; then until the samples agree, the time is up or there are
    ``most``.
    """

    least: int = 20
    most: int = 60
    spread: float = 0.005
    budget_s: float = 12.0

    def is_enough(self, samples: Sequence[float], elapsed_s: float) -> bool:
        """``elapsed_s`` is all that the measurement has taken so far, checking included."""
        if len(samples) < self.least:
            return False
        if len(samples) >= self.most or elapsed_s >= self.budget_s:
            return True
        return summarize(samples).spread <= self.spread
