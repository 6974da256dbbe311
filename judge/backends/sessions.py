"""Makes the sessions and warm runners of a device, as its backend specifies them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from judge.backends.base import Backend, Cancelled
from judge.errors import InternalError
from judge.judgement import DeviceInfo
from judge.packs.pack import Case, Pack
from judge.settings import JudgeSettings
from judge.supervisor.factory import SessionFactory, region_bytes, session_factory
from judge.supervisor.launcher import JailLauncher
from judge.supervisor.runner_start import WaitingRunners
from judge.supervisor.warm_pool import WarmPool, warm_pool


def sessions_for(
    backend: Backend,
    pack: Pack,
    cases: Sequence[Case],
    device: DeviceInfo,
    settings: JudgeSettings,
    *,
    cancelled: Cancelled = lambda: False,
    warm: WaitingRunners | None = None,
    threads: int | None = None,
) -> SessionFactory:
    """Returns the factory of sessions that have room for these cases. Raises InternalError if there are none.

    ``warm`` are runners of this device that were started before, under these settings. ``threads`` is what
    ``Backend.hold`` has yielded.
    """
    if not cases:
        raise InternalError(f"{pack.slug} has no case for {device.kind}")
    spec = backend.runner_spec(device, settings)
    regions = region_bytes(pack, cases)
    bounds = backend.bounds(pack, settings, sum(regions))
    launcher = JailLauncher(spec, settings)
    factory = session_factory(pack, regions, spec, bounds, settings, launcher, cancelled=cancelled, warm=warm)
    return factory.on_threads(threads or 0)


def warm_runners(
    backend: Backend, device: DeviceInfo, settings: JudgeSettings, count: int, report: Callable[[str], None]
) -> WarmPool:
    """Starts ``count`` runners that wait for sessions on the device. Raises InternalError.

    ``report`` gets the reason why one could not be started. Close the pool when no judgement is running.
    """
    spec = backend.runner_spec(device, settings)
    beside = backend.beside_runners(device, settings)
    return warm_pool(spec, settings, JailLauncher(spec, settings), count, report=report, beside=beside)
