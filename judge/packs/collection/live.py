"""The packs of an installation as they are now: changed ones are read again, without a restart.

A pack that is broken after a change is still served as it last was, and the error is reported once.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from judge.packs.collection.loader import FilesState, files_state
from judge.packs.collection.registry import Registry
from judge.packs.errors import PackError
from judge.packs.pack import Pack
from records import dataclass

#: So often at most the files are looked at.
_LOOK_S = 2.0


@dataclass(frozen=True, slots=True)
class PackProblem:
    """The reason why a pack cannot be loaded as it is now: ``key`` of ``file``, for a ``reason``.

    ``slug`` is empty where no pack is at fault, such as for a folder that is not there. ``served`` is the version that
    is served meanwhile; None: there is none.
    """

    slug: str
    file: Path
    key: str
    reason: str
    served: str | None


class LivePacks(Mapping[str, Pack]):
    """The packs below ``paths`` by slug. Thread-safe.

    ``report`` gets each problem when it appears. Packs of installed Python packages are read at the start only.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        report: Callable[[PackError], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._paths = tuple(paths)
        self._report = report
        self._clock = clock
        self._lock = threading.Lock()
        self._packs: dict[str, Pack] = {}
        self._reported: set[str] = set()
        self._problems: tuple[PackProblem, ...] = ()
        self._state: FilesState | None = None
        self._looked = float("-inf")
        self._look()

    def __getitem__(self, slug: str) -> Pack:
        return self._now()[slug]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    @property
    def problems(self) -> tuple[PackProblem, ...]:
        """The faults of packs that do not load as they are now, by slug."""
        self._now()
        return self._problems

    def refresh(self) -> None:
        """Looks at the files now."""
        with self._lock:
            self._looked = float("-inf")
        self._now()

    def _now(self) -> dict[str, Pack]:
        if self._clock() - self._looked >= _LOOK_S and self._lock.acquire(blocking=False):
            try:
                self._look()
            finally:
                self._lock.release()
        return self._packs

    def _look(self) -> None:
        self._looked = self._clock()
        state = _files_state(self._paths)
        if state == self._state:
            return
        registry = Registry.load(self._paths)
        packs = dict(registry.packs)
        for problem in registry.problems:
            slug = _slug_at_fault(problem)
            if slug in self._packs and slug not in packs:
                packs[slug] = self._packs[slug]
            if str(problem) not in self._reported:
                self._report(problem)
        self._reported = {str(problem) for problem in registry.problems}
        found = (_describe(problem, packs) for problem in registry.problems)
        self._problems = tuple(sorted(found, key=lambda problem: (problem.slug, str(problem.file))))
        self._packs = dict(sorted(packs.items()))
        self._state = state


def _slug_at_fault(problem: PackError) -> str:
    """Returns the slug of the pack that the problem's file belongs to, or an empty text."""
    folder = problem.file if problem.file.is_dir() else problem.file.parent
    return folder.name if (folder / "challenge.toml").is_file() else ""


def _describe(problem: PackError, packs: Mapping[str, Pack]) -> PackProblem:
    slug = _slug_at_fault(problem)
    served = packs[slug].version if slug in packs else None
    return PackProblem(slug, problem.file, problem.key, problem.reason, served)


def _files_state(paths: Sequence[Path]) -> FilesState:
    folders = (folder for path in paths for folder in [path, *sorted(each for each in path.glob("*") if each.is_dir())])
    return tuple(itertools.chain.from_iterable(files_state(folder) for folder in folders))
