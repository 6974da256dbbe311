"""Tries this machine's GPUs for ``gpujudge doctor``: peaks, memory that is cleared, and whether they are in service."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from judge.errors import Cancelled, InternalError
from judge.gpu import discovery, trial
from judge.gpu.calibration import load_calibration
from judge.gpu.health import out_of_service
from judge.gpu.lock import device_lock
from judge.gpu.nsight.problems import why_no_profile
from judge.gpu.nsight.tool import PERMIT, TRIED, NoProfile, find_nsight, only_administrators, trial_command
from judge.judgement import DeviceInfo
from judge.probe import Probe
from judge.settings import JudgeSettings

#: How long to wait for a GPU that is judging.
_PATIENCE_S = 3.0
_HEALTH = (
    "It is tried again by itself. nvidia-smi -q, and dmesg for NVRM, say more; some faults need a reset or a reboot."
)


def probe_gpus(settings: JudgeSettings) -> Iterator[Probe]:
    """Tries each GPU; says why there is none otherwise."""
    found = discovery.find_gpus(settings, anew=True)
    for device in found.devices:
        facts = f"compute capability {device.compute_capability}, driver {device.details.get('driver') or 'unknown'}"
        if "pytorch" in device.details:
            facts += f", PyTorch {device.details['pytorch']}"
        selector = f"cuda:{device.details['ordinal']}"
        yield Probe(f"GPU {selector}", True, f"{device.name}, {facts}", required=False)
        yield _calibration(settings, device, selector)
        yield _memory(settings, device, f"memory of {selector}")
        yield _profiles(settings, device, f"profiles on {selector}")
        problem = out_of_service(settings, device)
        if problem:
            detail = f"a worker gives it no jobs: {problem}"
            yield Probe(f"service of {selector}", False, detail, _HEALTH, required=False)
    if not found.devices:
        remedy = "in a clone of gpujudge: pip install '.[cuda]' (it needs the CUDA toolkit: nvcc must be on PATH)"
        if not Path("/dev/nvidiactl").exists():
            remedy = "Nothing to do without a GPU: the emulator judges. With one, install its driver."
        yield Probe("GPU", False, found.problem or "none found", remedy, required=False)


def _calibration(settings: JudgeSettings, device: DeviceInfo, selector: str) -> Probe:
    found = load_calibration(settings, device)
    name = f"calibration of {selector}"
    if found is None:
        detail = "its peaks have not been measured (with this driver): times are bounded by its data sheet alone"
        return Probe(name, False, detail, f"gpujudge device calibrate --device {selector}", required=False)
    facts = f"reads {found.read_bytes_per_s / 1e9:,.0f} GB/s, " + ", ".join(
        f"{name} {rate / 1e12:,.1f} T/s" for name, rate in found.rates.items()
    )
    return Probe(name, True, f"{facts} (measured {found.date})", required=False)


def _memory(settings: JudgeSettings, device: DeviceInfo, name: str) -> Probe:
    """Tries whether the driver clears the GPU's memory between processes: nothing else does."""
    until_s = time.monotonic() + _PATIENCE_S
    try:
        with device_lock(device, settings, cancelled=lambda: time.monotonic() > until_s):
            remembers = trial.remembers(device, settings)
    except Cancelled:
        return Probe(name, True, "not checked: the GPU is judging", required=False)
    except InternalError as error:
        return Probe(name, False, f"could not be checked: {error.message}", required=False)
    if remembers:
        detail = "a process finds there the data of an earlier one: submissions could read each other's data"
        return Probe(name, False, detail, "Use a driver that clears memory; judge one person's code only until then.")
    return Probe(name, True, "is cleared by the driver before another process gets it")


def _profiles(settings: JudgeSettings, device: DeviceInfo, name: str) -> Probe:
    """Tries whether Nsight Compute is there and may read the GPU's counters in a jail."""
    until_s = time.monotonic() + _PATIENCE_S
    try:
        tool = find_nsight()
        if only_administrators():
            raise NoProfile("the driver lets only administrators read the GPU's performance counters", PERMIT)
        with device_lock(device, settings, cancelled=lambda: time.monotonic() > until_s):
            said = trial.said_profiled(device, settings, trial_command(tool))
        if TRIED not in said:
            raise why_no_profile(said)
    except NoProfile as problem:
        return Probe(name, False, f"none: {problem.message}", problem.remedy, required=False)
    except Cancelled:
        return Probe(name, True, "not checked: the GPU is judging", required=False)
    except InternalError as error:
        return Probe(name, False, f"could not be checked: {error.message}", required=False)
    return Probe(name, True, f"{tool.name} reads its performance counters", required=False)
