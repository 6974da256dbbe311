"""Guards a worker's device: calibrates it once, and accepts no jobs while it is unhealthy."""

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
    from judge.backends.base import Backend
    from judge.gpu.calibration import Calibration
    from judge.gpu.health import GpuHealth
    from workers.judging import PipelineJudge

log = structlog.get_logger(__name__)


class DeviceService:
    """Decides from the device's health whether it accepts jobs.

    ``settle`` waits until the previous job has left the device. ``paused`` is entered while it is out of service.
    """

    def __init__(
        self,
        health: GpuHealth,
        *,
        settle: Callable[[], None] = lambda: None,
        paused: Callable[[], AbstractContextManager[None]] = lambda: nullcontext(),
    ) -> None:
        self._health = health
        self._settle = settle
        self._paused = paused
        self._pause = contextlib.ExitStack()
        self._reported_problem = ""

    @property
    def in_service(self) -> bool:
        """Returns whether the last health check found no problem."""
        return not self._health.problem

    @property
    def problem(self) -> str:
        """Why the device is out of service; empty while it is in service."""
        return self._health.problem

    def fit(self) -> bool:
        """Checks the health and returns whether to take a job now.

        Logs when the device goes out of service or returns to it.
        """
        self._settle()
        fit = self._health.fit()
        problem = self._health.problem
        if problem and problem != self._reported_problem:
            log.error("device.out_of_service", reason=problem)
        if problem and not self._reported_problem:
            self._pause.enter_context(self._paused())
        if self._reported_problem and not problem:
            self._pause.close()
            log.info("device.in_service")
        self._reported_problem = problem
        return fit

    @contextlib.contextmanager
    def job(self) -> Iterator[None]:
        """Wraps each job, to check the device's health after it; an InternalError makes the device suspect."""
        failed = False
        try:
            yield
        except InternalError:
            failed = True
            raise
        finally:
            self._health.job_ended(failed=failed)


def open_service(
    backend: Backend, device: DeviceInfo, settings: JudgeSettings, judge: PipelineJudge, *, runners: int
) -> DeviceService | None:
    """Returns the device's service, or None if its backend has no health checks.

    Call it before the first runner starts.
    """
    health = backend.open_health(device, settings, runners=runners)
    if health is None:
        return None
    if not health.is_watched:
        log.warning("device.no_nvml", remedy="in a clone of gpujudge: pip install '.[cuda]'")
    return DeviceService(health, settle=judge.settle, paused=judge.paused)


def load_calibration(backend: Backend, device: DeviceInfo, settings: JudgeSettings) -> Calibration | None:
    """Returns the device's stored calibration, or None where there is none or its backend has none."""
    return None if backend.calibrator is None else backend.calibrator.load(device, settings)


def calibrate_once(backend: Backend, device: DeviceInfo, settings: JudgeSettings) -> None:
    """Measures the device's peak rates, if its backend can and no calibration is stored.

    If that fails, it logs the reason; the worker then bounds times by the data sheet alone.
    """
    calibrator = backend.calibrator
    if calibrator is None or calibrator.load(device, settings) is not None:
        return
    log.info("device.calibrating", device=device.key)
    try:
        calibration = calibrator.calibrate(device, settings)
    except InternalError as error:
        log.warning("device.not_calibrated", reason=error.message, remedy="gpujudge device calibrate")
        return
    log.info("device.calibrated", read_bytes_per_s=calibration.read_bytes_per_s, **calibration.rates)
