"""Loads the figures of a GPU from its file in ``gpus/``, which names the source of each figure."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path

from records import dataclass


@dataclass(frozen=True, slots=True)
class Memory:
    """Bandwidths: DRAM's per second, the L2's per clock of the device, the others per clock of a multiprocessor.

    A sector has 32 bytes. ``counts_shared_increments``: lanes that add one to the same word of shared memory and do not
    use the result are served in one turn.
    """

    dram_peak_bytes_per_s: float
    dram_bytes_per_s: float
    bus_bits: int
    l2_bytes: int
    l2_bytes_per_clock: float
    l1_sectors_per_clock: float
    l1_lines_per_clock: float
    fill_sectors_per_clock: float
    shared_wavefronts_per_clock: float
    atomic_lanes_per_clock: float
    contended_atomics_per_clock: float
    contended_float_atomics_per_clock: float
    shared_atomics_per_clock: float
    counts_shared_increments: bool


@dataclass(frozen=True, slots=True)
class Latency:
    """Latencies in clocks. ``issue``: from an arithmetic instruction to one that needs its result."""

    issue: float
    l1: float
    shared: float
    l2: float
    dram: float
    barrier: float


@dataclass(frozen=True, slots=True)
class ResidentLimits:
    """The resources of one multiprocessor."""

    threads: int
    blocks: int
    registers: int
    shared_bytes: int
    reserved_shared_bytes: int


@dataclass(frozen=True, slots=True)
class LaunchCost:
    """``first_s``: the time of an empty call. ``each_s``: what each empty kernel adds to it."""

    first_s: float
    each_s: float


@dataclass(frozen=True, slots=True)
class Gpu:
    """The figures of one GPU.

    ``lanes_per_clock`` (by class of instruction) and ``tensor_flops_per_clock`` (by type) are those of one
    multiprocessor; ``host_link_bytes_per_s`` counts one direction.
    """

    key: str
    name: str
    compute_capability: str
    multiprocessors: int
    clock_hz: float
    host_link_bytes_per_s: float
    schedulers: int
    lanes_per_clock: Mapping[str, float]
    tensor_flops_per_clock: Mapping[str, float]
    memory: Memory
    latency_cycles: Latency
    limits: ResidentLimits
    launch: LaunchCost


_FILES = Path(__file__).with_name("gpus")


def gpu_names() -> tuple[str, ...]:
    """Returns the names that ``load_gpu`` accepts, sorted."""
    names = (file.name for file in _FILES.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


@functools.cache
def load_gpu(name: str) -> Gpu:
    """Returns the GPU of that name. Raises ``ValueError`` with the known names for an unknown one."""
    if name not in gpu_names():
        raise ValueError(f"no GPU is known as {name!r}: there are {', '.join(gpu_names())}")
    values = tomllib.loads((_FILES / f"{name}.toml").read_text(encoding="utf-8"))
    return Gpu(
        key=name,
        memory=Memory(**values.pop("memory")),
        latency_cycles=Latency(**values.pop("latency_cycles")),
        limits=ResidentLimits(**values.pop("limits")),
        launch=LaunchCost(**values.pop("launch")),
        **values,
    )
