"""Finds the GPUs of this machine."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judge.gpu.process import own_process
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings

#: Where no process keeps the driver awake, it starts each GPU of the machine anew, which takes seconds.
_PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class FoundGpus:
    """The usable GPUs. ``problem`` tells the operator why there are none."""

    devices: tuple[DeviceInfo, ...]
    problem: str


def find_gpus(settings: JudgeSettings) -> FoundGpus:
    """Finds the GPUs in a process of its own, since loading the driver leaves threads and a context behind.

    Where submissions may call all of PyTorch, a GPU counts as another device, with boards of its own.
    """
    if not Path("/dev/nvidiactl").exists() and not Path("/dev/dxg").exists():
        return FoundGpus((), "no NVIDIA driver is loaded")
    command, environment = own_process("judge.gpu.discovery_process")
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE_S, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        return FoundGpus((), f"looking for GPUs took longer than {_PATIENCE_S:g} s")
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return FoundGpus((), lines[-1] if lines else f"the search for GPUs ended with {done.returncode}")
    devices = tuple(_cuda_device(entry) for entry in json.loads(done.stdout))
    return FoundGpus(devices, "") if settings.pytorch == "off" else _with_pytorch(devices, settings.pytorch)


def _with_pytorch(devices: tuple[DeviceInfo, ...], allowed: str) -> FoundGpus:
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return FoundGpus((), f"GPUJUDGE_PYTORCH={allowed}, and PyTorch is not installed: pip install torch")
    found = [replace(each, details={**each.details, "pytorch": f"{version}, {allowed}"}) for each in devices]
    if allowed == "functions":
        found = [replace(each, key=f"{each.key}-pytorch", name=f"{each.name} with PyTorch") for each in found]
    return FoundGpus(tuple(found), "")


def device_key(model: str) -> str:
    """Returns the key of a model: ``NVIDIA H100 80GB HBM3`` -> ``nvidia-h100-80gb-hbm3``."""
    return re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")


def _cuda_device(entry: dict[str, Any]) -> DeviceInfo:
    details = {key: value for key, value in entry.items() if key not in ("name", "compute_capability")}
    return DeviceInfo(device_key(entry["name"]), "cuda", entry["name"], entry["compute_capability"], details)
