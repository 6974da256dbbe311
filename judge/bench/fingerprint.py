"""On what a time was measured: what has to be the same, or looked at, before two times are compared."""

from __future__ import annotations

from typing import Any

from judge import __version__
from judge.build.target import Target
from judge.build.toolchain import find_toolchain
from judge.devices.calibration import Calibration
from judge.errors import ToolchainMissing
from judge.judgement import DeviceInfo
from judge.packs.pack import Pack
from judge.settings import JudgeSettings

_DETAILS = ("uuid_hash", "driver", "cuda_driver", "multiprocessors", "memory_bytes", "memory_clock_khz", "clock_khz")


def fingerprint(
    pack: Pack, device: DeviceInfo, settings: JudgeSettings, calibration: Calibration | None, seen: dict[str, Any]
) -> dict[str, Any]:
    """Plain JSON. ``seen`` is what NVML told while it was measured. No serial number and no UUID: a hash of it."""
    return {
        "gpu": device.name,
        "device": device.key,
        "compute_capability": device.compute_capability,
        **{name: device.details[name] for name in _DETAILS if name in device.details},
        "nvcc": _nvcc_version(settings),
        "nvcc_flags": [f"-std={pack.build.std}", *Target.cuda(device.compute_capability).flags()],
        "pack": f"{pack.slug} {pack.version}",
        "pack_digest": pack.digest,
        "judge": __version__,
        "calibrated": None if calibration is None else calibration.date,
        "seen": seen,
    }


def _nvcc_version(settings: JudgeSettings) -> str:
    try:
        return find_toolchain(settings.nvcc).version
    except ToolchainMissing:
        return ""
