"""The report on the launches since it was last taken: plain frozen data."""

from __future__ import annotations

from typing import Literal

from emulator.profile import LaunchProfile
from records import dataclass

Dim3 = tuple[int, int, int]


#: Kinds of findings in kernels; README.md says what each means.
MEMORY_KINDS = (
    "out-of-bounds read",
    "out-of-bounds write",
    "out-of-bounds shared read",
    "out-of-bounds shared write",
    "out-of-bounds local read",
    "out-of-bounds local write",
    "out-of-bounds constant read",
    "out-of-bounds constant write",
    "out-of-bounds parameter read",
    "out-of-bounds parameter write",
    "out-of-bounds surface read",
    "out-of-bounds surface write",
    "invalid texture object",
    "invalid surface object",
    "illegal read",
    "illegal write",
    "misaligned access",
    "write to read-only memory",
    "read after free",
    "write after free",
)
SYNC_KINDS = ("divergent barrier", "deadlock", "illegal warp-sync mask", "endless loop")
#: A launch, or another call of the device runtime, whose error its thread never asked for.
CALL_KIND = "failed call in a kernel"
#: Of work of the device and the host's own code.
HOST_RACE = "race with the host"
#: Only with ``checks="full"``.
FULL_KINDS = (
    "uninitialized read",
    "uninitialized shared read",
    "race on shared memory",
    "race on global memory",
    "race between streams",
    HOST_RACE,
)
#: Atomics, volatile and relaxed accesses that nothing orders: no races, and no faults unless results depend on it.
UNORDERED_KINDS = ("access without a fence", "unordered blocks", "unordered lanes")
#: No faults where the value does not matter. The first: only with ``tell_silent``.
NOTE_KINDS = (
    "one constant stored by several threads",
    "undefined shuffle",
    "conflicting stores",
    "uninitialized local read",
    *UNORDERED_KINDS,
)


@dataclass(frozen=True, slots=True)
class Party:
    """The other access of a race."""

    file: str | None
    line: int | None
    thread: Dim3
    block: Dim3
    is_write: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault of a kernel: the first at its site. ``message`` explains it in one sentence.

    ``kind`` is one of ``MEMORY_KINDS``, ``SYNC_KINDS`` and ``FULL_KINDS``, or ``NOTE_KINDS``. ``file`` and ``line`` are
    None when the program was built without ``-lineinfo``, and for calls of the host. ``address`` and ``size`` (bytes)
    are 0 where no access is meant.
    ``allocation`` is the label of the allocation, or the name of the ``__shared__`` array, that was likely meant.
    ``count`` says how often it happened there. ``other`` is the other access of a race. ``host_frames``, innermost
    first, say where the host's access is in a race with it.
    """

    kind: str
    is_write: bool
    message: str
    kernel: str
    file: str | None
    line: int | None
    thread: Dim3
    block: Dim3
    address: int
    size: int
    allocation: str | None
    count: int = 1
    other: Party | None = None
    host_frames: tuple[Frame, ...] = ()

    @property
    def is_race(self) -> bool:
        return self.other is not None


@dataclass(frozen=True, slots=True)
class SharedExtent:
    """The bytes of shared memory that a line reads, or those that it writes, in one launch, as offsets in the block's.

    ``first`` and ``last`` are the thread and the block that reach the outermost. Extents of one launch have the same
    number ``launch``; launches with the same extents as one before them have none.
    """

    kernel: str
    file: str
    launch: int
    begin: int
    end: int
    line: int
    is_write: bool
    first: tuple[Dim3, Dim3]
    last: tuple[Dim3, Dim3]


@dataclass(frozen=True, slots=True)
class LaunchStats:
    """One kernel launch. ``warp_instructions`` depends on the program and its data only, not on threads or time."""

    kernel: str
    grid: Dim3
    block: Dim3
    warp_instructions: int
    wall_s: float
    profile: LaunchProfile | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """A call in the program's host code: ``offset`` is what ``addr2line`` takes for ``file``, an ELF file.

    ``function`` is its mangled name, where the file exports it.
    """

    file: str
    offset: int
    function: str | None


@dataclass(frozen=True, slots=True)
class CallError:
    """A call of the CUDA runtime that failed. ``code`` and ``name`` are the error's (1, "cudaErrorInvalidValue").

    ``kind`` is such as "bad launch configuration", "invalid free", "copy past the end", "wrong copy direction", "use
    after destruction"; None when only the error code is known. ``was_queried``: the program used the result,
    or asked about errors afterwards (``cudaGetLastError``, ``cudaGetErrorString``, ..). ``frames`` are innermost first.
    """

    kind: str | None
    message: str | None
    call: str
    code: int
    name: str
    was_queried: bool
    frames: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class Leak:
    """Memory that was never freed; ``frames`` are those of the call that allocated it."""

    allocation: str
    size: int
    frames: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class Ending:
    """How a program that ran by itself ended, as its own process recorded.

    ``is_regular``: it ran its exit handlers. ``crash`` describes a SIGSEGV or SIGBUS. ``kernel`` ran then.
    """

    process: int
    program: str
    crash: str | None
    crash_frames: tuple[Frame, ...]
    kernel: str | None
    is_regular: bool


@dataclass(frozen=True, slots=True)
class Report:
    """The emulator's findings about the launches of a program.

    ``findings`` holds the first of each site and kind, at most 20; ``omitted_sites`` is the number of further sites,
    ``finding_count`` counts every occurrence in every lane.

    ``unchecked`` says what the full checks could not examine, and why. ``extents`` are known with full checks only.

    ``limit`` is the first limit that was hit. ``unsupported`` names what the emulator does not do, with file and line
    where known. ``failure`` says what broke the context (a fault, an assert, a limit, ...). ``call_errors`` and
    ``leaks`` are the first 20 of each; leaks, and ``ending``, are known of programs that ran by themselves only
    (``python -m emulator``).
    """

    warp_instructions: int = 0
    launches: tuple[LaunchStats, ...] = ()
    findings: tuple[Finding, ...] = ()
    finding_count: int = 0
    omitted_sites: int = 0
    unchecked: tuple[str, ...] = ()
    extents: tuple[SharedExtent, ...] = ()
    limit: Literal["memory", "instructions", "wall"] | None = None
    unsupported: str | None = None
    printf_output: bytes = b""
    failure: str | None = None
    call_errors: tuple[CallError, ...] = ()
    call_error_count: int = 0
    leaks: tuple[Leak, ...] = ()
    leak_count: int = 0
    leaked_bytes: int = 0
    launch_count: int = 0
    ending: Ending | None = None

    @property
    def memory_faults(self) -> tuple[Finding, ...]:
        """Returns the findings about accesses to memory."""
        return tuple(f for f in self.findings if f.kind in MEMORY_KINDS)

    @property
    def memory_fault_count(self) -> int:
        """Returns how often the accesses in ``memory_faults`` happened."""
        return sum(f.count for f in self.memory_faults)

    @property
    def races(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.is_race)
