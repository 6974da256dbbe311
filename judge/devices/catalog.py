"""The devices of this machine, and finding one by the name that a user gave."""

from __future__ import annotations

import difflib
import json
import os
import platform
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.devices.process import own_process
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings

_PROBE_S = 30.0
_CUDA_ALIAS = re.compile(r"cuda(?::(\d+))?")


class UnknownDevice(Exception):
    """No device of that name; ``nearest`` are the names that come closest, or all when none does."""

    def __init__(self, name: str, known: list[str], problem: str) -> None:
        self.name = name
        self.nearest = difflib.get_close_matches(name, known, n=3, cutoff=0.4) or known
        text = f"there is no device '{name}' here; did you mean {' or '.join(self.nearest)}?"
        super().__init__(f"{text} ({problem})" if problem and name.startswith("cuda") else text)


@dataclass(frozen=True, slots=True)
class CudaProbe:
    """The GPUs that can be used. ``problem`` says why there are none, in words for the operator."""

    devices: tuple[DeviceInfo, ...]
    problem: str


def list_devices(settings: JudgeSettings) -> list[DeviceInfo]:
    """The emulator, and every GPU that works. Takes half a second where there is a GPU, and nothing where there is
    none.
    """
    return [emulator_device(settings), *probe_cuda(settings).devices]


def find_device(name: str, settings: JudgeSettings) -> DeviceInfo:
    """By key (``emulator``, ``nvidia-h200``) or by the local alias ``cuda:0``. Raises UnknownDevice."""
    if name == "emulator":
        return emulator_device(settings)
    probe = probe_cuda(settings)
    alias = _CUDA_ALIAS.fullmatch(name)
    for device in probe.devices:
        if device.key == name or (alias and device.details["ordinal"] == int(alias.group(1) or 0)):
            return device
    known = ["emulator"]
    for device in probe.devices:
        known += [device.key, f"cuda:{device.details['ordinal']}"]
    raise UnknownDevice(name, list(dict.fromkeys(known)), probe.problem)


def emulator_device(settings: JudgeSettings) -> DeviceInfo:
    """The CPU emulator: on every machine."""
    threads = settings.emulator_threads or len(os.sched_getaffinity(0))
    return DeviceInfo(
        key="emulator",
        kind="emulator",
        name="CPU emulator",
        compute_capability="8.0",
        details={"cpu": _cpu_name(), "threads": threads},
    )


def probe_cuda(settings: JudgeSettings) -> CudaProbe:  # noqa: ARG001 -- later settings will choose among GPUs
    """Looks for GPUs in a process of its own."""
    if not Path("/dev/nvidiactl").exists() and not Path("/dev/dxg").exists():
        return CudaProbe((), "no NVIDIA driver is loaded")
    command, environment = own_process("judge.devices.probe")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_S, env=environment, check=False)
    except subprocess.TimeoutExpired:
        return CudaProbe((), f"looking for GPUs took longer than {_PROBE_S:g} s")
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return CudaProbe((), lines[-1] if lines else f"the probe ended with {done.returncode}")
    return CudaProbe(tuple(_cuda_device(entry) for entry in json.loads(done.stdout)), "")


def device_key(model: str) -> str:
    """``NVIDIA H100 80GB HBM3`` -> ``nvidia-h100-80gb-hbm3``."""
    return re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")


def _cuda_device(entry: dict[str, Any]) -> DeviceInfo:
    details = {key: value for key, value in entry.items() if key not in ("name", "compute_capability")}
    return DeviceInfo(device_key(entry["name"]), "cuda", entry["name"], entry["compute_capability"], details)


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
