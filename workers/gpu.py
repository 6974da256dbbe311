"""What a worker does about its GPU beside judging on it: measures it once, and gives it no jobs when it is unwell."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import structlog

from judge.errors import InternalError
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings

if TYPE_CHECKING:
    from judge.devices.health import GpuHealth

log = structlog.get_logger(__name__)

#: A judgement takes one for its cases, three for its times and an empty one beside them; the emulator judges with one,
#: and has a second when the next submission comes before the first is replaced.
_RUNNERS = 5
_EMULATOR_RUNNERS = 2
#: Each takes a context and what flushes the caches: a small GPU's memory is for submissions.
_MEMORY_PER_RUNNER_BYTES = 8 << 30


class GpuService:
    """Whether the GPU takes jobs. ``settle`` waits until the last one has left it; ``paused`` is held while it takes
    none."""

    def __init__(
        self, health: GpuHealth, *, settle: Callable[[], None] = lambda: None,
        paused: Callable[[], AbstractContextManager[None]] = lambda: nullcontext(),
    ) -> None:  # fmt: skip
        self._health = health
        self._settle = settle
        self._paused = paused
        self._out = contextlib.ExitStack()
        self._told = ""

    @property
    def in_service(self) -> bool:
        return not self._health.problem

    def fit(self) -> bool:
        """Whether to take a job now; says when that changes for longer."""
        self._settle()
        fit = self._health.fit()
        problem = self._health.problem
        if problem and problem != self._told:
            log.error("device.out_of_service", reason=problem)
        if problem and not self._told:
            self._out.enter_context(self._paused())
        if self._told and not problem:
            self._out.close()
            log.info("device.in_service")
        self._told = problem
        return fit

    @contextlib.contextmanager
    def job(self) -> Iterator[None]:
        """Around each job: one that the machine let fail casts doubt on the GPU."""
        failed = False
        try:
            yield
        except InternalError:
            failed = True
            raise
        finally:
            self._health.job_ended(failed=failed)


def open_health(device: DeviceInfo, settings: JudgeSettings, *, runners: int) -> GpuHealth:
    """With NVML, where there is one, and trials in processes of their own. Before the first runner is started."""
    from judge.devices.health import GpuHealth
    from judge.devices.nvml import watch_device
    from judge.devices.trial import why_not_working

    watch = watch_device(device)
    if watch is None:
        log.warning("device.no_nvml", remedy="pip install 'gpujudge[cuda]'")
    return GpuHealth(device, settings, watch, lambda: why_not_working(device, settings), runners=runners)


def calibrate_once(device: DeviceInfo, settings: JudgeSettings) -> None:
    """Measures the GPU's peaks if nobody has. When that fails times are bounded by its data sheet: no reason not to
    judge.
    """
    from judge.devices.calibrate import calibrate
    from judge.devices.calibration import load_calibration

    if load_calibration(settings, device) is not None:
        return
    log.info("device.calibrating", device=device.key)
    try:
        calibration = calibrate(device, settings)
    except InternalError as error:
        log.warning("device.not_calibrated", reason=error.message, remedy="gpujudge device calibrate")
        return
    log.info("device.calibrated", read_bytes_per_s=calibration.read_bytes_per_s, **calibration.rates)


def runners_for(device: DeviceInfo, wanted: int | None) -> int:
    """How many runners wait: as the settings say, else by the kind of the device and the size of its memory."""
    if wanted is not None:
        return wanted
    if device.kind != "cuda":
        return _EMULATOR_RUNNERS
    return min(_RUNNERS, int(device.details.get("memory_bytes", 0)) // _MEMORY_PER_RUNNER_BYTES)
