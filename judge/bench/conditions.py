"""The state of the GPU while it is timed: whether a burst counts, and what is told of it afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from judge.devices.nvml import GpuState, GpuWatch
from judge.errors import InternalError

#: So many dropped bursts of one submission, with a pause after each, and the GPU is in no state to time anything.
MOST_DROPPED = 40
_PAUSE_S = 0.25


@dataclass
class Conditions:
    """``watch`` is None where there is no NVML: then every burst counts."""

    watch: GpuWatch | None = None
    pause: Callable[[float], None] = time.sleep
    dropped: int = 0
    #: The largest and smallest of what was read, by name.
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    _power_capped: bool | None = None
    _others: int = 0

    def look(self) -> GpuState:
        """Between two bursts."""
        if self.watch is None:
            return GpuState()
        state = self.watch.sample()
        for name in ("sm_mhz", "memory_mhz", "temperature_c", "power_w"):
            if (value := getattr(state, name)) is not None:
                low, high = self.ranges.get(name, (value, value))
                self.ranges[name] = (min(low, value), max(high, value))
        if state.power_capped is not None:
            self._power_capped = bool(self._power_capped) or state.power_capped
        self._others = max(self._others, len(state.other_pids))
        return state

    def counts(self, before: GpuState, after: GpuState) -> bool:
        """Whether the burst between these counts. Raises InternalError when too many have not."""
        reasons = sorted({*before.throttled_by, *after.throttled_by})
        if not reasons:
            return True
        self.dropped += 1
        if self.dropped > MOST_DROPPED:
            heat = f" at {after.temperature_c} °C" if after.temperature_c is not None else ""
            raise InternalError(
                f"the GPU stays throttled ({', '.join(reasons)}{heat}): no time taken now would mean anything",
                "look after its cooling and power, and see gpujudge doctor",
            )
        self.pause(_PAUSE_S)
        return False

    def summary(self) -> dict[str, Any]:
        """What was seen: ranges as [least, most]; bursts dropped for throttling; empty without NVML."""
        if self.watch is None:
            return {}
        return {
            **{name: list(ends) for name, ends in self.ranges.items()},
            "power_capped": self._power_capped,
            "other_processes": self._others,
            "bursts_dropped": self.dropped,
        }
