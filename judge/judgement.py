"""The judgement: everything the judge has to say of one submission on one device, as plain frozen data.

The engine makes it, the store keeps it, and the web, the API and the CLI show it: all of them use these classes. How
they are written as JSON and read back is ``judge.judgement_json``'s business.

Two kinds of field are left out of the JSON: those marked ``WHEN_KNOWN`` while they have their default, and everything
in a ``Fingerprint`` or in ``ObservedConditions`` of which nothing is known.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Final, Literal

from judge.measurements import WHEN_KNOWN, Measurement, sizes_in_words
from judge.verdict import Verdict
from records import dataclass

#: The version of the JSON form. Raise it with every change that ``judge.judgement_json`` must migrate.
SCHEMA_VERSION: Final = 3

#: The name of a kind of device: see ``judge.kinds``. Whoever judges on it refuses an unknown one.
DeviceKind = str
#: A number as JSON can carry it: those that are not finite are the strings nan, inf and -inf.
JsonNumber = float | int | str
ShownRole = Literal["input", "expected", "got"]


#: What to do about races of whole launches and copies, as the emulator names them: not of single blocks.
OF_WHOLE_LAUNCHES = {
    "race between streams": "let the stream of the second wait for an event behind the first",
    "race with the host": "let the host wait for the device between them",
}
#: What precedes a race that a message tells of though the wrong answer does not depend on it, as far as was tried.
SAME_IN_ALL_ORDERS = "also found, though other orders of warps gave the same answer: "


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """The device that judged. Users name it, and leaderboards are kept, by its ``key`` (``nvidia-h200``)."""

    key: str
    kind: DeviceKind
    name: str
    #: Compute capability such as ``9.0``; the emulator's is that of the machine it models.
    compute_capability: str
    #: What else its backend knows of it: driver, CUDA, multiprocessors, l2_bytes, memory_bytes, clocks, cpu, ...
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KernelResources:
    """The resources that ptxas allots to one kernel. ``kernel`` is its mangled name."""

    kernel: str
    registers: int = 0
    spill_stores_bytes: int = 0
    spill_loads_bytes: int = 0
    shared_bytes: int = 0
    stack_bytes: int = 0


@dataclass(frozen=True, slots=True)
class BuildReport:
    """The compiler's report. ``registers`` and ``spills`` (bytes) are the largest over the kernels, as ptxas says."""

    ok: bool
    wall_s: float
    log: str = ""
    registers: int | None = None
    spills: int | None = None
    kernels: tuple[KernelResources, ...] = ()
    cached: bool = False
    #: What the author should know of a source that was built.
    notes: tuple[str, ...] = field(default=(), metadata=WHEN_KNOWN)


@dataclass(frozen=True, slots=True)
class MismatchMap:
    """The whole of a wrong output on a grid of few cells, ``height`` elements down and ``width`` across.

    ``cells`` has a string for each row of the grid, and in it a digit for each cell: 0 if all its elements are right,
    else the ninths of them that are wrong, rounded up. Cell ``i`` of ``n`` begins at element ``ceil(i * elements / n)``
    of its axis.
    """

    height: int
    width: int
    cells: tuple[str, ...]

    def box(self) -> tuple[int, int, int, int] | None:
        """Returns the first and last row and the first and last column of the wrong cells' box, in elements."""
        rows = [number for number, row in enumerate(self.cells) if row.strip("0")]
        columns = [number for number, column in enumerate(zip(*self.cells, strict=True)) if {*column} != {"0"}]
        if not rows:
            return None
        down, across = len(self.cells), len(self.cells[0])
        return (
            -(-rows[0] * self.height // down),
            -(-(rows[-1] + 1) * self.height // down) - 1,
            -(-columns[0] * self.width // across),
            -(-(columns[-1] + 1) * self.width // across) - 1,
        )


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where an output differs from the reference.

    ``indices`` holds the first few mismatching positions as multi-dimensional indices; ``expected`` and ``got`` are
    their values, in the same order. ``allowed`` has the absolute error that the tolerance allows each of them (0: they
    must be equal), and is empty where nobody derived one. ``map`` is set where the whole output was compared element by
    element. ``imprecise`` is set where every difference is small, so that the answer may lack precision rather than
    being another one: it is the largest error as a multiple of the allowed one.
    """

    output: str
    indices: tuple[tuple[int, ...], ...]
    expected: tuple[JsonNumber, ...]
    got: tuple[JsonNumber, ...]
    count: int
    total: int
    max_abs_error: float | None
    max_rel_error: float | None
    message: str = ""
    allowed: tuple[float, ...] = field(default=(), metadata=WHEN_KNOWN)
    map: MismatchMap | None = field(default=None, metadata=WHEN_KNOWN)
    imprecise: float | None = field(default=None, metadata=WHEN_KNOWN)

    def excess(self, number: int) -> str:
        """Returns by how much the shown element of that number is wrong, beside what is allowed; empty if unknown."""
        want, have = self.expected[number], self.got[number]
        if number >= len(self.allowed) or isinstance(want, str) or isinstance(have, str):
            return ""
        error, allowed = abs(want - have), self.allowed[number]
        if allowed == 0:
            return f"off by {error:.3g}, must be equal"
        return f"off by {error:.3g}, allowed {allowed:.3g}: {error / allowed:.3g} times as much"


@dataclass(frozen=True, slots=True)
class RacingAccess:
    """The other access of a data race."""

    file: str | None
    line: int | None
    thread: tuple[int, int, int]
    block: tuple[int, int, int]
    is_write: bool


@dataclass(frozen=True, slots=True)
class MemoryFault:
    """An error that the emulator's checkers found in a kernel, the first at each source line.

    ``other`` is set for data races only.
    """

    kind: str
    message: str
    kernel: str | None = None
    file: str | None = None
    line: int | None = None
    thread: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    other: RacingAccess | None = None


@dataclass(frozen=True, slots=True)
class ShownArray:
    """An argument of a public case: an input, what was expected of an output, or what it got.

    ``values`` are its first elements in C order. ``picture`` has a string for each row of a small picture of a matrix,
    and in it a digit for each cell: the mean of its elements, 0 at ``low`` to 9 at ``high``, the least and the largest
    element; ``-`` where none is finite.
    """

    name: str
    role: ShownRole
    shape: tuple[int, ...]
    values: tuple[JsonNumber, ...]
    picture: tuple[str, ...] = field(default=(), metadata=WHEN_KNOWN)
    low: float | None = field(default=None, metadata=WHEN_KNOWN)
    high: float | None = field(default=None, metadata=WHEN_KNOWN)


@dataclass(frozen=True, slots=True)
class CaseJudgement:
    """The verdict on one case. ``group`` is ``sample``, ``hidden``, ``benchmark`` or ``custom`` (the user's own).

    ``sizes`` are its axes (``{"N": 4}``).
    ``output`` is what the program printed in a sample or custom case, its beginning if that is long, and ``shown`` its
    arguments; of other cases nothing is shown, since it could hold hidden inputs.
    """

    id: str
    group: str
    verdict: Verdict
    wall_s: float
    message: str = ""
    mismatch: Mismatch | None = None
    memory_errors: tuple[MemoryFault, ...] = ()
    output: str = field(default="", metadata=WHEN_KNOWN)
    #: What the case is about, if it failed.
    description: str = field(default="", metadata=WHEN_KNOWN)
    sizes: dict[str, int] = field(default_factory=dict, metadata=WHEN_KNOWN)
    shown: tuple[ShownArray, ...] = field(default=(), metadata=WHEN_KNOWN)

    @property
    def name(self) -> str:
        """The case's name for people: its sizes, or else its id."""
        return sizes_in_words(self.sizes) or self.id


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one submission on one device, and everything that led to it.

    ``unranked`` is the time of a run whose public cases are all accepted: one benchmark, modelled by the emulator. It
    has the form of a ``measurement``, which runs do not have, and enters no board.
    """

    schema_version: Literal[3] = field(default=SCHEMA_VERSION, kw_only=True)
    verdict: Verdict
    challenge: str
    pack_version: str
    device: DeviceInfo
    build: BuildReport
    cases: tuple[CaseJudgement, ...] = ()
    measurement: Measurement | None = None
    message: str = ""
    wall_s: float = 0.0
    unranked: Measurement | None = field(default=None, metadata=WHEN_KNOWN)

    @property
    def shown_measurement(self) -> Measurement | None:
        """The score, or else the unranked time."""
        return self.measurement if self.measurement is not None else self.unranked
