"""Stores the measured peaks of GPUs: no kernel does its work in less time than they allow.

The data folder has one file for each device, named by the hash of its UUID, since two boards of one model differ. A
file is written whole or not at all.
"""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings

#: Increased when the kernels change so that older figures no longer hold.
VERSION = 1
#: Arithmetic types whose peak is measured, in operations a second (a fused multiply-add is two).
RATES = ("fp32", "fp64", "tf32", "fp16", "bf16", "int8")


@dataclass(frozen=True, slots=True)
class Calibration:
    """The measured peaks of one GPU.

    ``rates`` has the arithmetic types that could be measured on this device. For those in ``incomplete`` the device has
    a faster instruction than the one measured, so their rates are no bound.
    """

    uuid_hash: str
    name: str
    driver: str
    #: UTC, ISO 8601.
    date: str
    read_bytes_per_s: float
    copy_bytes_per_s: float
    rates: Mapping[str, float]
    incomplete: tuple[str, ...] = ()

    def bounds(self, arithmetic: str) -> bool:
        """Returns whether no kernel can exceed the rate of this arithmetic type."""
        return arithmetic in self.rates and arithmetic not in self.incomplete


def load_calibration(settings: JudgeSettings, device: DeviceInfo) -> Calibration | None:
    """Returns the stored calibration of this device.

    Returns None where the device was not measured yet, or with other kernels or another driver.
    """
    try:
        found = json.loads(_path(settings, device).read_text())
        calibration = _from_json(found)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    current = found.get("version") == VERSION and calibration.driver == str(device.details.get("driver", ""))
    return calibration if current else None


def store_calibration(settings: JudgeSettings, device: DeviceInfo, calibration: Calibration) -> Path:
    """Writes the calibration and returns its path."""
    path = _path(settings, device)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".calibration.", dir=path.parent)
    try:
        with os.fdopen(handle, "w") as file:
            json.dump({"version": VERSION, **dataclasses.asdict(calibration)}, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def device_hash(device: DeviceInfo) -> str:
    """Returns the identifier of this board among others of its model: its number where NVML has no UUID."""
    return str(device.details.get("uuid_hash") or f"ordinal-{device.details.get('ordinal', 0)}")


def _path(settings: JudgeSettings, device: DeviceInfo) -> Path:
    return settings.data_dir / "calibration" / f"{device_hash(device)}.json"


def _from_json(found: dict[str, Any]) -> Calibration:
    return Calibration(
        uuid_hash=str(found["uuid_hash"]),
        name=str(found["name"]),
        driver=str(found["driver"]),
        date=str(found["date"]),
        read_bytes_per_s=float(found["read_bytes_per_s"]),
        copy_bytes_per_s=float(found["copy_bytes_per_s"]),
        rates={str(name): float(rate) for name, rate in found["rates"].items()},
        incomplete=tuple(str(name) for name in found["incomplete"]),
    )
