"""Stands in for NVML: a watch that returns the given samples one after another, then the last one for ever."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from judge.gpu.nvml import GpuState


class FakeGpuWatch:
    """``judge.gpu.nvml.GpuWatch``. ``samples`` counts how often it was asked."""

    def __init__(self, states: Iterable[GpuState] = ()) -> None:
        self.states = list(states)
        self.samples = 0
        self.closed = False

    def sample(self, *, brief: bool = False) -> GpuState:
        self.samples += 1
        if not self.states:
            return GpuState()
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        return dataclasses.replace(state, utilisation=None, memory_used_bytes=None, xids=()) if brief else state

    def close(self) -> None:
        self.closed = True
