"""Measures the peaks of a GPU in a process of its own. No time below what the peaks allow is believed."""

from __future__ import annotations

import contextlib
import json
import math
import subprocess
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judge.compile.cubin import build_cubin
from judge.errors import InternalError
from judge.gpu.calibration import RATES, Calibration, device_hash, store_calibration
from judge.gpu.lock import device_lock
from judge.gpu.nvml import GpuState, GpuWatch, watch_device
from judge.gpu.peaks.counts import incomplete_for
from judge.gpu.process import own_process
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings

#: The source of the kernels that reach the peaks.
PEAKS_SOURCE = Path(__file__).with_name("peaks") / "peaks.cu"
_WALL_S = 120.0
_LOOK_S = 0.2

Say = Callable[[str], None]
OpenWatch = Callable[[DeviceInfo], GpuWatch | None]


def calibrate(
    device: DeviceInfo, settings: JudgeSettings, say: Say = lambda _: None, *, open_watch: OpenWatch = watch_device
) -> Calibration:
    """Measures the peaks of a GPU, stores them and returns them. Takes some ten seconds, once the GPU is free.

    Raises InternalError where the measurement fails, and where the GPU was throttled or used by other programs
    meanwhile: peaks that are too low would make honest times look impossible.
    """
    if "ordinal" not in device.details:
        raise InternalError(f"{device.key} has no peaks to be measured")
    say("compiling")
    cubin = build_cubin(PEAKS_SOURCE, device.compute_capability, settings.data_dir / "kernels", settings.nvcc)
    with device_lock(device, settings):
        with _watched(open_watch(device)) as states:
            measured = _measure(int(device.details["ordinal"]), cubin, say)
        _check_undisturbed(states)
    calibration = _calibration(device, measured)
    store_calibration(settings, device, calibration)
    return calibration


def _measure(ordinal: int, cubin: Path, say: Say) -> dict[str, Any]:
    command, environment = own_process("judge.gpu.peaks.measure", str(ordinal), str(cubin))
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace"
    )
    killer = threading.Timer(_WALL_S, process.kill)
    killer.start()
    measured: dict[str, Any] | None = None
    try:
        with process:
            assert process.stdout is not None
            assert process.stderr is not None
            for line in process.stdout:
                said = json.loads(line)
                if "doing" in said:
                    say(str(said["doing"]))
                measured = said.get("measured", measured)
            complaint = process.stderr.read().strip().splitlines()
    finally:
        killer.cancel()
        process.kill()
    if process.returncode != 0 or measured is None:
        reason = complaint[-1] if complaint else f"the process ended with {process.returncode}"
        raise InternalError(f"the GPU could not be measured: {reason}", "gpujudge doctor")
    return measured


def _calibration(device: DeviceInfo, measured: dict[str, Any]) -> Calibration:
    rates = {name: float(measured["rates"][name]) for name in RATES if name in measured["rates"]}
    calibration = Calibration(
        uuid_hash=device_hash(device),
        name=device.name,
        driver=str(device.details.get("driver", "")),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        read_bytes_per_s=float(measured["read_bytes_per_s"]),
        copy_bytes_per_s=float(measured["copy_bytes_per_s"]),
        rates=rates,
        incomplete=tuple(name for name in incomplete_for(_capability(device)) if name in rates),
    )
    figures = (calibration.read_bytes_per_s, calibration.copy_bytes_per_s, *rates.values())
    if not all(math.isfinite(figure) and figure > 0 for figure in figures):
        raise InternalError(f"the GPU could not be measured: {measured}")
    return calibration


def _capability(device: DeviceInfo) -> tuple[int, int]:
    major, _, minor = device.compute_capability.partition(".")
    return int(major), int(minor or 0)


@contextlib.contextmanager
def _watched(watch: GpuWatch | None) -> Iterator[list[GpuState]]:
    """Yields the list to which NVML's readings of the GPU are added until the block ends."""
    states: list[GpuState] = []
    if watch is None:
        yield states
        return
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK_S):
            states.append(watch.sample())

    thread = threading.Thread(target=look, name="gpu-watch", daemon=True)
    thread.start()
    try:
        yield states
    finally:
        ended.set()
        thread.join()
        states.append(watch.sample())
        watch.close()


def _check_undisturbed(states: list[GpuState]) -> None:
    reasons = sorted({reason for state in states for reason in state.throttled_by})
    if reasons:
        raise InternalError(f"the GPU was throttled meanwhile ({', '.join(reasons)})", "cool it, then try again")
    others = sorted({pid for state in states for pid in state.other_pids})
    if others:
        pids = ", ".join(map(str, others))
        raise InternalError(f"other programs used the GPU meanwhile (process {pids})", "stop them, then try again")
