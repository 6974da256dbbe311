"""Times the null kernel of a challenge before anybody submits: by a worker, or a batch, whose device has nothing to do.

A submission whose null kernel was not timed before waits for it, some seconds, and holds the device meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from judge.backends.registry import BUILTIN_BACKENDS, Backends
from judge.backends.sessions import sessions_for
from judge.judgement import DeviceInfo
from judge.languages.registry import BUILTIN_LANGUAGES, Languages
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.supervisor.warm_pool import WarmPool


def time_null_kernel(
    pack: Pack,
    device: DeviceInfo,
    settings: JudgeSettings,
    *,
    older_s: float | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    warm: WarmPool | None = None,
    backends: Backends = BUILTIN_BACKENDS,
    languages: Languages = BUILTIN_LANGUAGES,
) -> int:
    """Measures and keeps the baselines that a challenge lacks, and those not confirmed for ``older_s`` seconds.

    Returns how many there were. Holds the device meanwhile. Raises InternalError and Cancelled.
    """
    backend, language = backends.of(device.kind), languages.of(pack.build.language)
    cases = backend.lacking_baselines(pack, device, settings, older_s=older_s)
    if not cases:
        return 0
    build = partial(language.build_null_kernel, pack, backend.target(device), settings)
    build()  # kept by its content, so that the device does not wait for a compiler
    with backend.hold(device, settings, cancelled=cancelled):
        factory = sessions_for(backend, pack, cases, device, settings, cancelled=cancelled, warm=warm)
        with factory.quiet():
            backend.time_null_kernel(pack, cases, device, settings, factory, build)
    return len(cases)
