"""Starts a worker process: ``python -m workers {build,device,sweeper}``."""

from __future__ import annotations

import argparse
import dataclasses
import signal
import sys
from collections.abc import Sequence
from functools import partial
from types import FrameType

import structlog

from judge.backends.registry import BUILTIN_BACKENDS, Backends, UnknownDevice
from judge.errors import InternalError
from judge.judgement import DeviceInfo
from judge.native.heap import bound_arenas
from judge.sandbox.probe import require_walls
from logs import LogSettings, configure_logging
from logs.traces import TracesMissing
from store.operation.environment import SettingsProblem
from store.settings import Settings, prepare_data_dir, read_settings
from workers.app import STOP_SIGNALS, make_app, serve
from workers.context import WorkerContext, make_context
from workers.device import Presence
from workers.gpu import DeviceService, calibrate_once, load_calibration, open_service
from workers.job_loop import JobLoop
from workers.judging import PipelineJudge
from workers.languages import tell_own_languages
from workers.lease_keeper import LeaseKeeper
from workers.null_kernels import NullKernels
from workers.sweeper import sweep_for_ever
from workers.turns import build_or_help_one, run_or_help_one
from workers.uploads import start_verifying

log = structlog.get_logger(__name__)


def run_build_worker(context: WorkerContext) -> None:
    """Builds submissions until a signal stops it."""
    _require_jail(context)
    _warm_up(context, None)
    between = partial(tell_own_languages, context)
    loop = JobLoop(context, partial(build_or_help_one, context), between=between)
    if isinstance(context.judge, PipelineJudge):
        start_verifying(context)
    serve(make_app(context.settings), loop, device_key=None)


def run_device_worker(context: WorkerContext, selector: str, backends: Backends = BUILTIN_BACKENDS) -> None:
    """Judges built submissions on the device until a signal stops it."""
    settings = context.settings
    judge_settings = settings.judge_settings()
    device = backends.find_device(selector, judge_settings)
    backend = backends.of(device.kind)
    _require_jail(context)
    runners = backend.warm_runners(device) if settings.warm_runners is None else settings.warm_runners
    service: DeviceService | None = None
    if isinstance(context.judge, PipelineJudge):
        service = open_service(backend, device, judge_settings, context.judge, runners=runners)
    # Announced before the warm-up, which takes a minute the first time: submissions may queue meanwhile.
    calibration = partial(load_calibration, backend, device, judge_settings)
    Presence(context, device, service=service, calibration=calibration).start()
    if service is not None:
        calibrate_once(backend, device, judge_settings)
    _warm_up(context, device, runners=runners)
    work = partial(run_or_help_one, context, device, service=service, null_kernels=NullKernels(context, device))
    try:
        serve(make_app(settings), JobLoop(context, work), device_key=device.key)
    finally:
        if isinstance(context.judge, PipelineJudge):
            context.judge.close()


def _require_jail(context: WorkerContext) -> None:
    """Raises JailUnavailable if the jail is required and does not hold."""
    if isinstance(context.judge, PipelineJudge):
        require_walls(context.settings.jail)
        if context.settings.jail == "off":
            log.warning("jail.off", meaning="submissions can do whatever this user can")


def _warm_up(context: WorkerContext, device: DeviceInfo | None, *, runners: int = 0) -> None:
    if isinstance(context.judge, PipelineJudge):
        context.judge.warm_up(device, runners=runners)
        context.packs.load()


def run_sweeper(context: WorkerContext) -> None:
    """Sweeps until a signal stops it."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        context.stopping.set()

    for number in STOP_SIGNALS:
        signal.signal(number, stop)
    sweep_for_ever(context)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a worker. Returns the exit code: 0 after a stop by signal, 1 if the worker cannot start.

    Exits with 2 on wrong usage.
    """
    parser = argparse.ArgumentParser(prog="python -m workers", description="The workers of gpujudge.")
    kinds = parser.add_subparsers(dest="kind", required=True)
    kinds.add_parser("build", help="compile submissions (start as many as there are cores to spare)")
    device = kinds.add_parser("device", help="judge on one device (start one for each)")
    device.add_argument("--device", required=True, metavar="DEVICE", help="emulator, or cuda:0")
    kinds.add_parser("sweeper", help="watch over leases and queues (one is enough)")
    options = parser.parse_args(argv)

    bound_arenas()
    try:
        settings, log_settings = read_settings(Settings), read_settings(LogSettings)
    except SettingsProblem as problem:
        parser.error(str(problem))
    prepare_data_dir(settings)
    name = f"device {options.device}" if options.kind == "device" else options.kind
    configure_logging(log_settings, process=name)
    try:
        context = make_context(settings, process=name)
    except TracesMissing as error:
        log.error("worker.cannot_start", reason=str(error))
        return 1
    try:
        if options.kind == "sweeper":
            run_sweeper(context)
            return 0
        with LeaseKeeper() as keeper:
            kept = dataclasses.replace(context, keeper=keeper)
            if options.kind == "build":
                run_build_worker(kept)
            else:
                run_device_worker(kept, options.device)
    except (UnknownDevice, InternalError) as error:
        log.error("worker.cannot_start", reason=str(error))
        return 1
    finally:
        context.traces.close()
        context.engine.dispose()
    return 0


if __name__ == "__main__":
    sys.exit(main())
