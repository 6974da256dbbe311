"""The times of a pack's baselines on a device: those that are kept where they hold, else measured now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING

from judge.backends.registry import BUILTIN_BACKENDS, Backends
from judge.bench.library.record import LibraryTime, load_times, store_times, versions
from judge.bench.statistics import PROCESSES
from judge.bench.timed_calls import timed_calls
from judge.errors import Cancelled, InternalError
from judge.judgement import DeviceInfo
from judge.packs.pack import Pack
from judge.settings import JudgeSettings

if TYPE_CHECKING:
    from judge.bench.library.process import LibraryProcess


def why_no_libraries(pack: Pack, device: DeviceInfo) -> str:
    """Returns why there are no times of libraries here, in a sentence that says what to do; empty if there may be."""
    if pack.baselines.refused:
        return pack.baselines.refused
    if not pack.baselines.calls:
        return f"no library does {pack.slug}: {pack.baselines.none or 'nobody has named one'}"
    if device.kind != "cuda":
        return f"{device.key} has no library; its rows are our kernels, modelled"
    if not pack.benchmarks_for(device.kind):
        return f"{pack.slug} is not timed on {device.key}"
    installed = versions()
    if "torch" not in installed:
        return "PyTorch is not installed, which calls the libraries: pip install torch, and cupy for those of CUB"
    return ""


def library_times(
    pack: Pack,
    device: DeviceInfo,
    settings: JudgeSettings,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    backends: Backends = BUILTIN_BACKENDS,
) -> tuple[LibraryTime, ...]:
    """Returns the time, or the problem, of each baseline. Measures them if none hold that are kept, and keeps them.

    They are measured again where the pack, its baselines, the card, the driver or a library is another one. Raises
    InternalError where the libraries cannot be called, and Cancelled.
    """
    if why := why_no_libraries(pack, device):
        raise InternalError(why)
    kept = load_times(pack, device, settings)
    if kept is not None:
        return kept
    backend = backends.of(device.kind)
    with backend.hold(device, settings, cancelled=cancelled), timed_calls(settings.locks, cancelled=cancelled):
        opened = backend.open_libraries(pack, device, settings)
        if opened is None:
            raise InternalError(f"{device.key} has no library")
        with opened as process:
            for _ in range(PROCESSES):
                if cancelled():
                    raise Cancelled
                process.round()
            found = process.times()
    keep_times(pack, device, settings, found)
    return found


class Alternation:
    """The libraries' turns in an audit, which go on without them where they fail. Use it as a context manager.

    ``process`` is what ``Backend.open_libraries`` opens, on a device that is held.
    """

    def __init__(self, open_process: Callable[[], AbstractContextManager[LibraryProcess] | None]) -> None:
        self._open = open_process
        self._stack = ExitStack()
        self._process: LibraryProcess | None = None
        #: Why there are no times; empty while there may be.
        self.problem = ""

    def __enter__(self) -> Alternation:
        try:
            opened = self._open()
            self._process = None if opened is None else self._stack.enter_context(opened)
        except InternalError as error:
            self.problem = error.message
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def round(self) -> None:
        """Times the libraries once."""
        if self._process is None:
            return
        try:
            self._process.round()
        except InternalError as error:
            self.problem, self._process = error.message, None

    def times(self) -> tuple[LibraryTime, ...]:
        """Returns the times of three rounds; nothing where there were no libraries, or one failed."""
        return () if self._process is None else self._process.times()


def alternate(
    pack: Pack, device: DeviceInfo, settings: JudgeSettings, backends: Backends = BUILTIN_BACKENDS
) -> Alternation:
    """Returns the libraries' part in an audit on a device that is held; one that does nothing where there are none."""
    if why_no_libraries(pack, device):
        return Alternation(lambda: None)
    return Alternation(lambda: backends.of(device.kind).open_libraries(pack, device, settings))


def keep_times(pack: Pack, device: DeviceInfo, settings: JudgeSettings, found: Sequence[LibraryTime]) -> None:
    """Keeps times on this machine. Raises InternalError."""
    try:
        store_times(pack, device, settings, found)
    except OSError as error:
        raise InternalError(f"the times of libraries cannot be kept: {error}") from None
