"""The times of a pack's baselines on a device: those that are kept where they hold, else measured now."""

from __future__ import annotations

from collections.abc import Callable

from judge.backends.registry import BUILTIN_BACKENDS, Backends
from judge.bench.library.record import LibraryTime, load_times, store_times, versions
from judge.bench.statistics import PROCESSES
from judge.errors import Cancelled, InternalError
from judge.judgement import DeviceInfo
from judge.packs.pack import Pack
from judge.settings import JudgeSettings


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
    pack: Pack, device: DeviceInfo, settings: JudgeSettings,
    *, cancelled: Callable[[], bool] = lambda: False, backends: Backends = BUILTIN_BACKENDS,
) -> tuple[LibraryTime, ...]:  # fmt: skip
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
    with backend.hold(device, settings, cancelled=cancelled):
        opened = backend.open_libraries(pack, device, settings)
        if opened is None:
            raise InternalError(f"{device.key} has no library")
        with opened as process:
            for _ in range(PROCESSES):
                if cancelled():
                    raise Cancelled
                process.round()
            found = process.times()
    try:
        store_times(pack, device, settings, found)
    except OSError as error:
        raise InternalError(f"the times of libraries cannot be kept: {error}") from None
    return found
