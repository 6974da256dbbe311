"""The times in a judgement, measured or modelled, what they are made of, and on what they were made: frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal

from records import dataclass

Metric = Literal["time_s", "modelled_time_s"]
#: Metadata of fields that the JSON leaves out while they have their default.
WHEN_KNOWN: Final = {"json": "when known"}
#: Why a case of an audit was not replayed, where nothing more is known.
NOT_REPLAYED: Final = "its kernels were not replayed"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkCounts:
    """The emulator's counts for a kernel or a source line: see ``emulator.profile.Counters`` for each count.

    ``instructions`` are warp instructions by class, ``flops`` operations by type; ``active_lanes`` is the mean share of
    a warp's lanes that took part. Counts that the emulator did not have when the judgement was made are 0.
    """

    instructions: dict[str, int] = field(default_factory=dict)
    active_lanes: float = 1.0
    flops: dict[str, int] = field(default_factory=dict)
    global_requests: int = 0
    global_sectors: int = 0
    global_sectors_ideal: int = 0
    shared_wavefronts: int = 0
    shared_wavefronts_ideal: int = 0
    l1_hit_sectors: int = 0
    l2_sectors: int = 0
    atomics: int = 0
    atomic_serialized: int = 0
    global_loads: int = 0
    missed_loads: int = 0
    global_atomics: int = 0
    awaited_global_atomics: int = 0
    awaited_shared_atomics: int = 0
    swap_rounds: int = 0
    dependent_steps: int = 0
    dependent_loads: int = 0
    global_load_lanes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelledKernel(WorkCounts):
    """The launches of one kernel in one shape, and the time that the model gives them together.

    ``share`` is their part of the call's time, ``bounds`` the time (s) that each resource alone would take for one
    launch, ``limiter`` the resource that takes longest.
    """

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    launches: int
    seconds: float
    share: float
    limiter: str
    occupancy: float
    bounds: dict[str, float] = field(default_factory=dict)
    registers: int | None = None
    shared_bytes: int = 0
    dram_bytes: int = 0
    barriers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelledLine(WorkCounts):
    """A source line and its ``share`` of the modelled time. ``file`` is empty and ``line`` 0 where none is known."""

    file: str
    line: int
    share: float


def sizes_in_words(sizes: Mapping[str, int]) -> str:
    """Returns ``M = 4, N = 1,000``."""
    return ", ".join(f"{axis} = {size:,}" for axis, size in sizes.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkCase:
    """The time of one benchmark case. ``value`` is the score, in the unit of the measurement's metric.

    ``sizes`` are the case's axes (``{"N": 4}``).
    ``samples`` are all timed calls in order, ``processes`` the same by process. ``roofline_s`` is the least time that
    the device's measured peaks allow. ``stopped_by`` says why each process took no more samples, ``opened`` how many of
    the timed calls were checked. ``clock_…`` and ``around_s`` are what the judge's own clock saw: see
    docs/measurement.md. ``replayed_s`` and ``not_replayed`` are set by audits: see ``KernelReplay``.
    """

    id: str
    value: float
    samples: tuple[float, ...]
    bytes: float
    flops: float | None
    processes: tuple[tuple[float, ...], ...] = field(default=(), metadata=WHEN_KNOWN)
    roofline_s: float | None = field(default=None, metadata=WHEN_KNOWN)
    stopped_by: tuple[str, ...] = field(default=(), metadata=WHEN_KNOWN)
    opened: int | None = field(default=None, metadata=WHEN_KNOWN)
    clock_s: float | None = field(default=None, metadata=WHEN_KNOWN)
    clock_by_slope_s: float | None = field(default=None, metadata=WHEN_KNOWN)
    clock_in_all_s: float | None = field(default=None, metadata=WHEN_KNOWN)
    around_s: float | None = field(default=None, metadata=WHEN_KNOWN)
    replayed_s: float | None = field(default=None, metadata=WHEN_KNOWN)
    not_replayed: str | None = field(default=None, metadata=WHEN_KNOWN)
    sizes: dict[str, int] = field(default_factory=dict, metadata=WHEN_KNOWN)

    @property
    def name(self) -> str:
        """The case's name for people: its sizes, or else its id."""
        return sizes_in_words(self.sizes) or self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelledCase(BenchmarkCase):
    """A benchmark case whose time is modelled, and what makes it slow.

    ``limiter`` is the resource that bounds the call, ``why`` sentences about it, the most important first. ``kernels``
    and ``lines`` are those that most of the time goes to, the slowest first.
    """

    warp_instructions: int
    launches: int
    limiter: str
    why: tuple[str, ...]
    kernels: tuple[ModelledKernel, ...]
    lines: tuple[ModelledLine, ...]


@dataclass(frozen=True, slots=True)
class KernelReplay:
    """Whether an audit could time the kernels again without the submission's host code.

    ``replayed_s`` is the time of each benchmark case that could be replayed, by its id; ``not_replayed`` gives the
    reason for each that could not.
    """

    replayed_s: dict[str, float]
    not_replayed: dict[str, str]

    @property
    def complete(self) -> bool:
        """Whether every case was replayed."""
        return not self.not_replayed


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedConditions:
    """The state of the GPU during the measurement, as NVML reports it: ranges as (least, most)."""

    sm_mhz: tuple[float, float] | None = field(default=None, metadata=WHEN_KNOWN)
    memory_mhz: tuple[float, float] | None = field(default=None, metadata=WHEN_KNOWN)
    temperature_c: tuple[float, float] | None = field(default=None, metadata=WHEN_KNOWN)
    power_w: tuple[float, float] | None = field(default=None, metadata=WHEN_KNOWN)
    power_capped: bool | None = None
    other_processes: int | None = None
    #: Bursts of calls that did not count, since the GPU was throttled.
    bursts_dropped: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """On what a time was measured: what must agree, or be looked at, before two times are compared.

    ``uuid_hash`` stands for the GPU's UUID, which is not given away, and ``ordinal`` is its number on its machine.
    ``calibrated`` is the day on which the GPU's peaks were measured.
    ``other`` holds what an older or newer version of the judge recorded beside these.
    """

    gpu: str = ""
    device: str = ""
    compute_capability: str = ""
    uuid_hash: str | None = field(default=None, metadata=WHEN_KNOWN)
    ordinal: int | None = field(default=None, metadata=WHEN_KNOWN)
    driver: str | None = field(default=None, metadata=WHEN_KNOWN)
    cuda_driver: int | None = field(default=None, metadata=WHEN_KNOWN)
    multiprocessors: int | None = field(default=None, metadata=WHEN_KNOWN)
    memory_bytes: int | None = field(default=None, metadata=WHEN_KNOWN)
    memory_clock_khz: int | None = field(default=None, metadata=WHEN_KNOWN)
    clock_khz: int | None = field(default=None, metadata=WHEN_KNOWN)
    nvcc: str = ""
    nvcc_flags: tuple[str, ...] = ()
    pack: str = ""
    pack_digest: str = ""
    #: The release of PyTorch, and what of it a program in Python had; empty if nothing.
    pytorch: str = field(default="", metadata=WHEN_KNOWN)
    judge: str = ""
    calibrated: str | None = None
    seen: ObservedConditions = ObservedConditions()
    other: dict[str, Any] = field(default_factory=dict, metadata=WHEN_KNOWN)

    @property
    def card(self) -> str | None:
        """The card that was timed, named as by ``judge.gpu.calibration.device_hash``; None for modelled times."""
        return self.uuid_hash or (None if self.ordinal is None else f"ordinal-{self.ordinal}")


@dataclass(frozen=True, slots=True)
class Measurement:
    """The score. ``value`` is what the board sorts by, ascending: seconds, measured or (on the emulator) modelled.

    ``median_s`` is None where no time was measured. ``spread`` is half the interquartile range over the median.
    ``low`` and ``high`` are the ends of the 95 % interval of ``value``; None where nothing varies (modelled times).
    ``gpu`` and ``model`` are set for modelled times: for which GPU, and by which version of the model.
    """

    metric: Metric
    value: float
    runs: int
    spread: float
    median_s: float | None = None
    gb_per_s: float | None = None
    gflop_per_s: float | None = None
    cases: tuple[ModelledCase | BenchmarkCase, ...] = ()
    gpu: str | None = None
    model: int | None = None
    low: float | None = None
    high: float | None = None
    #: The least time that the device's peaks, measured or modelled, allow for the task, over ``value``: 1 is the
    #: roofline itself.
    roofline_share: float | None = None
    fingerprint: Fingerprint = Fingerprint()

    @property
    def scale(self) -> str:
        """The metric: scores are compared only within one: ``time_s``, ``modelled_time_s/h200/1``."""
        return "/".join(str(part) for part in (self.metric, self.gpu, self.model) if part is not None)

    @property
    def audit(self) -> KernelReplay | None:
        """The result of an audit's replay of the kernels; None where nothing was audited or no replay was tried."""
        replayed_s = {case.id: case.replayed_s for case in self.cases if case.replayed_s is not None}
        others = [case for case in self.cases if case.replayed_s is None]
        if not replayed_s and all(case.not_replayed is None for case in others):
            return None
        return KernelReplay(replayed_s, {case.id: case.not_replayed or NOT_REPLAYED for case in others})
