"""The profile of a kernel as Nsight Compute measured it on a GPU, as plain frozen data.

``judge.profiling`` makes it, the store keeps it, and the web and the CLI show it. Everything in it comes out of a jail
in which the submission ran: figures to learn from, never to rank by. A figure that the tool did not give is None, or
missing in a mapping.
"""

from __future__ import annotations

from dataclasses import field

from judge.measurements import ModelledCase, sizes_in_words
from records import dataclass

#: Parts of a GPU by the names under which ``MeasuredKernel.busy`` has them, in the order in which data pass them.
PARTS = ("compute", "memory", "L1", "L2", "DRAM")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLine:
    """A source line. ``file`` is empty and ``line`` 0 where none is known.

    ``share`` is its share of the samples: a sampler notes now and then where each warp is. ``instructions`` counts warp
    instructions. ``active_lanes`` is the mean share of a warp's lanes that took part. Sectors and wavefronts come with
    the fewest possible. ``states`` are the shares of the line's samples in which its warps waited, by reason.
    """

    file: str
    line: int
    share: float
    instructions: int = 0
    active_lanes: float | None = None
    global_sectors: int = 0
    global_sectors_ideal: int = 0
    shared_wavefronts: int = 0
    shared_wavefronts_ideal: int = 0
    states: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredKernel:
    """The launches of one kernel in one shape.

    ``seconds`` are those of all of them, at the profiler's clocks, ``share`` their part of all that was profiled.
    ``busy`` has, by a name of PARTS, how close the part came to the most that it can do (1). ``memory`` has bytes and
    hit rates (``L1 hits``, ``L2 hits``: 0 to 1; ``L1 bytes``, ``L2 bytes``, ``shared bytes``, ``DRAM read bytes``,
    ``DRAM written bytes``) of one launch. ``states`` is for how many clocks a warp was in each state for each
    instruction that it issued. Other figures are means over the launches.
    """

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    launches: int
    seconds: float
    share: float
    busy: dict[str, float] = field(default_factory=dict)
    memory: dict[str, float] = field(default_factory=dict)
    states: dict[str, float] = field(default_factory=dict)
    instructions: float | None = None
    active_lanes: float | None = None
    occupancy: float | None = None
    reached_occupancy: float | None = None
    registers: int | None = None
    shared_bytes: int | None = None

    @property
    def limiter(self) -> str:
        """The part that came closest to its limit; ``latency`` where none came near."""
        parts = {name: self.busy[name] for name in PARTS[2:] if name in self.busy}
        if "compute" in self.busy:
            parts["compute"] = self.busy["compute"]
        best = max(parts, key=lambda name: parts[name], default="")
        return best if best and parts[best] >= _BUSY else "latency" if best else ""


#: From which share of its limit on a part is said to limit a kernel.
_BUSY = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCase:
    """One call of ``solve`` on a case of these ``sizes``.

    ``left_out``: it launched more kernels than were profiled.
    """

    id: str
    sizes: dict[str, int] = field(default_factory=dict)
    kernels: tuple[MeasuredKernel, ...] = ()
    lines: tuple[MeasuredLine, ...] = ()
    left_out: bool = False

    @property
    def name(self) -> str:
        """The case's name for people: its sizes, or else its id."""
        return sizes_in_words(self.sizes) or self.id

    @property
    def seconds(self) -> float:
        """How long the kernels took, one after the other."""
        return sum(kernel.seconds for kernel in self.kernels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The measurements of ``tool`` on ``gpu``.

    The first of ``cases`` is the one that was asked for, or the GPU's own benchmark. ``modelled`` are the figures of
    the emulator's model of the GPU ``modelled_gpu`` for its own benchmark, whose sizes are often smaller: that is then
    the second case. None where there are none, for the reason ``not_modelled``.
    """

    gpu: str
    tool: str
    cases: tuple[MeasuredCase, ...] = ()
    modelled: ModelledCase | None = None
    modelled_gpu: str = ""
    not_modelled: str = ""

    @property
    def beside_model(self) -> MeasuredCase | None:
        """The measured case that the model's figures are about."""
        modelled = self.modelled
        return None if modelled is None else next((case for case in self.cases if case.id == modelled.id), None)
