"""``python -m workers {build,device,sweeper}``: the entry point of every worker process."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from functools import partial
from types import FrameType

import structlog

from judge.devices.catalog import UnknownDevice
from judge.errors import InternalError
from judge.judgement import DeviceInfo
from judge.sandbox.probe import require_walls
from store.logs import configure_logging
from store.settings import Settings, prepare_data_dir
from workers.app import STOP_SIGNALS, make_app, serve
from workers.build import build_one
from workers.context import WorkerContext, make_context
from workers.device import Presence, run_or_audit_one
from workers.gpu import GpuService, calibrate_once, open_health, runners_for
from workers.judging import PipelineJudge, find_device
from workers.shift import Shift
from workers.sweeper import sweep_for_ever

log = structlog.get_logger(__name__)


def run_build_worker(context: WorkerContext) -> None:
    """Build submissions until stopped."""
    _require_jail(context)
    _warm_up(context, None)
    serve(make_app(context.settings), Shift(context, partial(build_one, context)), device_key=None)


def run_device_worker(context: WorkerContext, selector: str) -> None:
    """Judge built submissions on the device until stopped."""
    settings = context.settings
    judge_settings = settings.judge_settings()
    device = find_device(selector, judge_settings)
    _require_jail(context)
    runners = runners_for(device, settings.warm_runners)
    service: GpuService | None = None
    if device.kind == "cuda" and isinstance(context.judge, PipelineJudge):
        health = open_health(device, judge_settings, runners=runners)
        service = GpuService(health, settle=context.judge.settle, paused=context.judge.paused)
    # Offered at once: what is sent meanwhile waits for the warming up, which takes a minute the very first time.
    Presence(context, device, offered=lambda: service is None or service.in_service).start()
    if service is not None:
        calibrate_once(device, judge_settings)
    _warm_up(context, device, runners=runners)
    work = partial(run_or_audit_one, context, device, service=service)
    try:
        serve(make_app(settings), Shift(context, work), device_key=device.key)
    finally:
        if isinstance(context.judge, PipelineJudge):
            context.judge.close()


def _require_jail(context: WorkerContext) -> None:
    """Raises JailUnavailable: other people's code does not run without it."""
    if isinstance(context.judge, PipelineJudge):
        require_walls(context.settings.jail)
        if context.settings.jail == "off":
            log.warning("jail.off", meaning="submissions can do whatever this user can")


def _warm_up(context: WorkerContext, device: DeviceInfo | None, *, runners: int = 0) -> None:
    if isinstance(context.judge, PipelineJudge):
        context.judge.warm_up(device, runners=runners)
        context.packs.load()


def run_sweeper(context: WorkerContext) -> None:
    """Sweep until stopped."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        context.stopping.set()

    for number in STOP_SIGNALS:
        signal.signal(number, stop)
    sweep_for_ever(context)


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 0 after a stop by signal, 2 for wrong usage, 1 when the device is not there."""
    parser = argparse.ArgumentParser(prog="python -m workers", description="The workers of gpujudge.")
    kinds = parser.add_subparsers(dest="kind", required=True)
    kinds.add_parser("build", help="compile submissions (start as many as there are cores to spare)")
    device = kinds.add_parser("device", help="judge on one device (start one for each)")
    device.add_argument("--device", required=True, metavar="DEVICE", help="emulator, or cuda:0")
    kinds.add_parser("sweeper", help="watch over leases and queues (one is enough)")
    options = parser.parse_args(argv)

    settings = Settings()
    prepare_data_dir(settings)
    name = f"device {options.device}" if options.kind == "device" else options.kind
    configure_logging(settings, process=name)
    context = make_context(settings)
    try:
        if options.kind == "build":
            run_build_worker(context)
        elif options.kind == "device":
            run_device_worker(context, options.device)
        else:
            run_sweeper(context)
    except (UnknownDevice, InternalError) as error:
        log.error("worker.cannot_start", reason=str(error))
        return 1
    finally:
        context.engine.dispose()
    return 0


if __name__ == "__main__":
    sys.exit(main())
