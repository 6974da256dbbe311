"""The engine's settings for its machine. Made once, in an entry point, and passed down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol

from records import dataclass


class SharedBuilds(Protocol):
    """Where machines find each other's builds, by their keys (``judge.compile.cache``). Neither method raises."""

    def load(self, key: str) -> tuple[bytes, bytes | None] | None:
        """Returns a build's report, and its artifact or None if it does not compile. None: there is no such build."""

    def store(self, key: str, report: bytes, artifact: tuple[str, bytes] | None) -> None:
        """Keeps a build: its report, and the digest and the bytes of its artifact."""


@dataclass(frozen=True, slots=True)
class BuildLimits:
    """Bounds on one compilation."""

    wall_s: float = 60.0
    memory_bytes: int = 4 << 30
    source_bytes: int = 256 << 10
    log_bytes: int = 64 << 10
    artifact_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Bounds on one runner process, whatever the pack says; packs bound single calls.

    ``processes`` are processes and threads beside those that the device works on.
    """

    start_s: float = 20.0
    wall_s: float = 300.0
    memory_bytes: int = 8 << 30
    processes: int = 64
    output_bytes: int = 64 << 10


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """The engine's settings.

    ``data_dir`` has caches and the emulator's native library. ``nvcc`` None means that it is searched for. ``jail`` is
    ``required`` (the default: no jail, no judging) or ``off`` (one's own code on one's own machine only).
    """

    data_dir: Path
    nvcc: Path | None = None
    jail: str = "required"
    #: On how many threads the emulator runs a kernel's blocks, at most. None: what ``judge.processors`` finds useful.
    emulator_threads: int | None = None
    #: The GPU for which the emulator models times: a name of ``emulator.model.gpu_names()``.
    emulator_gpu: str = "h200"
    #: None: builds are kept on this machine alone.
    shared_builds: SharedBuilds | None = None
    #: Where the processes of this machine lock what only one may use at a time. None: in ``data_dir``.
    locks_dir: Path | None = None
    #: What suffices of a measured time: half the width of its interval, as a share of the time (0.02: ± 2 %). None: as
    #: narrow as a leaderboard needs it. A modelled time has no interval.
    precision: float | None = None
    #: How many configurations of an autotuned Triton kernel the emulator compiles and models, and for how many seconds
    #: in all. 1: it takes the first that compiles.
    autotune_configs: int = 8
    autotune_s: float = 10.0
    #: What Triton submissions on a GPU have of the PyTorch that is installed there: nothing (``off``: stand-ins), its
    #: tensors without what computes (``tensors``), or all of it (``functions``).
    pytorch: str = "off"
    build: BuildLimits = field(default_factory=BuildLimits)
    run: RunLimits = field(default_factory=RunLimits)

    @property
    def locks(self) -> Path:
        """The folder of the locks, which need not be there yet."""
        return self.locks_dir or self.data_dir / "locks"

    def to_json(self) -> dict[str, Any]:
        """Returns the settings for another process of this machine; limits and shared builds are left out."""
        paths = {name: None if (path := getattr(self, name)) is None else str(path) for name in _PATHS}
        return {**paths, **{name: getattr(self, name) for name in _SCALARS}}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> JudgeSettings:
        """Returns settings from what ``to_json`` made of them; the limits are the usual ones."""
        return cls(**{**given, **{name: None if given[name] is None else Path(given[name]) for name in _PATHS}})


_PATHS = ("data_dir", "nvcc", "locks_dir")
_SCALARS = ("jail", "emulator_threads", "emulator_gpu", "precision", "autotune_configs", "autotune_s", "pytorch")
