"""What comes out of the judge: plain frozen data, with one JSON form that the CLI, the API and the database share."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Literal

from judge.verdict import Verdict

DeviceKind = Literal["emulator", "cuda"]
#: ``warp_instructions`` is what the emulator's score was before it had a model of time; such judgements are kept.
Metric = Literal["time_s", "modelled_time_s", "warp_instructions"]


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """The device that judged: ``key`` is what users name and boards are kept by (``emulator``, ``nvidia-h200``)."""

    key: str
    kind: DeviceKind
    name: str
    #: Compute capability such as ``9.0``; the emulator says what it models.
    compute_capability: str
    #: Whatever else identifies it: driver, CUDA, multiprocessors, l2_bytes, memory_bytes, clocks, cpu, ...
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What the compiler did. ``registers`` and ``spills`` (bytes) are the largest over the kernels, as ptxas says."""

    ok: bool
    wall_s: float
    log: str = ""
    registers: int | None = None
    spills: int | None = None
    #: Per kernel: {"kernel", "registers", "spill_stores_bytes", "spill_loads_bytes", "shared_bytes", "stack_bytes"}.
    kernels: tuple[dict[str, Any], ...] = ()
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where an output differs. ``indices`` holds the first few mismatching positions as multi-dimensional indices;
    ``expected`` and ``got`` are their values, in the same order, as numbers or the strings nan, inf, -inf."""

    output: str
    indices: tuple[tuple[int, ...], ...]
    expected: tuple[float | int | str, ...]
    got: tuple[float | int | str, ...]
    count: int
    total: int
    max_abs_error: float | None
    max_rel_error: float | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class OtherSide:
    """Who met the access of a data race."""

    file: str | None
    line: int | None
    thread: tuple[int, int, int]
    block: tuple[int, int, int]
    is_write: bool


@dataclass(frozen=True, slots=True)
class MemoryFault:
    """One thing that the emulator saw a kernel do wrong (the first of each site); ``other`` only of a data race."""

    kind: str
    message: str
    kernel: str | None = None
    file: str | None = None
    line: int | None = None
    thread: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    other: OtherSide | None = None


@dataclass(frozen=True, slots=True)
class CaseJudgement:
    """The verdict on one case. ``group`` is ``sample``, ``hidden`` or ``benchmark``."""

    id: str
    group: str
    verdict: Verdict
    wall_s: float
    message: str = ""
    mismatch: Mismatch | None = None
    memory_errors: tuple[MemoryFault, ...] = ()


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
    #: Per benchmark case: {"id", "value", "samples": [...], "bytes", "flops"}, and of modelled times what
    #: judge.bench.modelled tells; of audits "replayed_s", or "not_replayed" with the reason.
    cases: tuple[dict[str, Any], ...] = ()
    gpu: str | None = None
    model: int | None = None
    low: float | None = None
    high: float | None = None
    #: The least time that this device's measured peaks allow for the task, over ``value``: 1 is the roofline itself.
    roofline_share: float | None = None
    #: On what it was measured: GPU, UUID hash, driver, CUDA, nvcc and its flags, clocks, temperature, pack, judge.
    fingerprint: dict[str, Any] = field(default_factory=dict)

    @property
    def scale(self) -> str:
        """What scores must have in common to be compared: ``time_s``, ``modelled_time_s/h200/1``."""
        return "/".join(str(part) for part in (self.metric, self.gpu, self.model) if part is not None)


@dataclass(frozen=True, slots=True)
class Judgement:
    """All there is to say of one submission on one device."""

    verdict: Verdict
    challenge: str
    pack_version: str
    device: DeviceInfo
    build: BuildReport
    cases: tuple[CaseJudgement, ...] = ()
    measurement: Measurement | None = None
    message: str = ""
    wall_s: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types only; verdicts as their two letters, tuples as lists."""
        plain: dict[str, Any] = _plain(dataclasses.asdict(self))
        return plain


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Verdict):
        return value.value
    return value
