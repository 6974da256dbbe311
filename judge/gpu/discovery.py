"""Finds the GPUs of this machine."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import re
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judge.gpu.process import own_process
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings

#: Where no process keeps the driver awake, it starts each GPU of the machine anew, which takes seconds.
_PATIENCE_S = 120.0
#: How long the GPUs found are remembered in the data directory, while nothing of ``_situation`` changes: looking takes
#: most of a second, and each ``gpujudge judge`` would wait for it.
_REMEMBERED_S = 3600.0
_REMEMBERED_IN = "gpus.json"
_DRIVER = Path("/proc/driver/nvidia")
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NAMED_BY = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES")


@dataclass(frozen=True, slots=True)
class FoundGpus:
    """The usable GPUs. ``problem`` tells the operator why there are none."""

    devices: tuple[DeviceInfo, ...]
    problem: str


def find_gpus(settings: JudgeSettings, *, anew: bool = False) -> FoundGpus:
    """Finds the GPUs in a process of its own, since loading the driver leaves threads and a context behind.

    It does not look again within an hour, under the same driver, unless ``anew`` asks for it.
    Where submissions may call all of PyTorch, a GPU counts as another device, with boards of its own.
    """
    if not Path("/dev/nvidiactl").exists() and not Path("/dev/dxg").exists():
        return FoundGpus((), "no NVIDIA driver is loaded")
    situation, kept = _situation(), settings.data_dir / _REMEMBERED_IN
    entries = None if anew else _recall(kept, situation)
    if entries is None:
        found = _look()
        if isinstance(found, str):
            return FoundGpus((), found)
        entries = found
        _remember(kept, situation, entries)
    devices = tuple(_cuda_device(entry) for entry in entries)
    return FoundGpus(devices, "") if settings.pytorch == "off" else _with_pytorch(devices, settings.pytorch)


def _look() -> list[dict[str, Any]] | str:
    """Returns the entries of ``discovery_process``, or why there are none."""
    command, environment = own_process("judge.gpu.discovery_process")
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE_S, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        return f"looking for GPUs took longer than {_PATIENCE_S:g} s"
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return lines[-1] if lines else f"the search for GPUs ended with {done.returncode}"
    entries: list[dict[str, Any]] = json.loads(done.stdout)
    return entries


def _situation() -> list[str]:
    """Returns the boot, the driver, its devices and the environment's choice: they decide which GPUs there are."""
    nodes = sorted(path.name for path in Path("/dev").glob("nvidia*"))
    return [
        _text(_BOOT),
        _text(_DRIVER / "version"),
        " ".join(nodes),
        *(os.environ.get(name, "") for name in _NAMED_BY),
    ]


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _recall(kept: Path, situation: list[str]) -> list[dict[str, Any]] | None:
    """Returns the entries that ``_remember`` kept in the same situation, None if there are none of the last hour."""
    try:
        found = json.loads(kept.read_text())
        is_recent = 0 <= time.time() - found["at"] < _REMEMBERED_S
        entries: list[dict[str, Any]] = found["gpus"]
        return entries if is_recent and found["situation"] == situation else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _remember(kept: Path, situation: list[str], entries: list[dict[str, Any]]) -> None:
    """Keeps the entries; where nothing can be written, the next call looks again."""
    with contextlib.suppress(OSError):
        fresh = kept.with_name(f".{kept.name}.{os.getpid()}")
        fresh.write_text(json.dumps({"at": time.time(), "situation": situation, "gpus": entries}))
        fresh.replace(kept)


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
