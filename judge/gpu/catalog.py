"""The GPUs of this machine."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.gpu.process import own_process
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings

_PROBE_S = 30.0


@dataclass(frozen=True, slots=True)
class CudaProbe:
    """The usable GPUs. ``problem`` tells the operator why there are none."""

    devices: tuple[DeviceInfo, ...]
    problem: str


def probe_cuda(settings: JudgeSettings) -> CudaProbe:  # noqa: ARG001 -- later settings will choose among GPUs
    """Finds the GPUs in a process of its own, since loading the driver leaves threads and a context behind."""
    if not Path("/dev/nvidiactl").exists() and not Path("/dev/dxg").exists():
        return CudaProbe((), "no NVIDIA driver is loaded")
    command, environment = own_process("judge.gpu.probe")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_S, env=environment, check=False)
    except subprocess.TimeoutExpired:
        return CudaProbe((), f"looking for GPUs took longer than {_PROBE_S:g} s")
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return CudaProbe((), lines[-1] if lines else f"the probe ended with {done.returncode}")
    return CudaProbe(tuple(_cuda_device(entry) for entry in json.loads(done.stdout)), "")


def device_key(model: str) -> str:
    """Returns the key of a model: ``NVIDIA H100 80GB HBM3`` -> ``nvidia-h100-80gb-hbm3``."""
    return re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")


def _cuda_device(entry: dict[str, Any]) -> DeviceInfo:
    details = {key: value for key, value in entry.items() if key not in ("name", "compute_capability")}
    return DeviceInfo(device_key(entry["name"]), "cuda", entry["name"], entry["compute_capability"], details)
