"""The record of libraries' times: their form, what they hold for, and where a machine keeps them.

Imports neither PyTorch nor CuPy: pages and commands read times that another process measured.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from importlib import metadata
from pathlib import Path
from typing import Any

from judge.bench.statistics import Interval
from judge.gpu.calibration import device_hash
from judge.judgement import DeviceInfo
from judge.packs.baselines import FILE
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from records import dataclass

#: The packages whose versions decide a time. PyTorch's names the CUDA libraries that it brings.
_PACKAGES = ("torch", "cupy", "cupy-cuda12x", "cupy-cuda13x", "nvidia-cublas", "nvidia-cudnn-cu13")
_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class LibraryTime:
    """The time of a library's call in seconds with its 95 % interval, as a submission's score is made.

    ``problem`` says why it has none: the library fails, or is wrong by the pack's own tolerance. ``versions`` are those
    of the packages and of the driver, ``cases`` the time of each benchmark case.
    """

    name: str
    library: str
    conditions: str
    value: float = 0.0
    low: float = 0.0
    high: float = 0.0
    problem: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    cases: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_timed(self) -> bool:
        return not self.problem and self.low > 0


def speed(time_s: Interval, library: LibraryTime) -> Interval:
    """Returns how many times as fast as the library a time is, with the interval that both intervals allow.

    1.34 means that the library takes 1.34 times as long. Its ends divide the ends of the two intervals that are
    furthest apart, so it is at least a 95 % interval. Raises ValueError for a library without a time.
    """
    if not library.is_timed or min(time_s.value, time_s.low, time_s.high) <= 0:
        raise ValueError(f"{library.library} or the time beside it is not known")
    return Interval(library.value / time_s.value, library.low / time_s.high, library.high / time_s.low)


def ratio_in_words(ratio: Interval, library: str) -> str:
    """Returns the result of ``speed`` as pages and commands show it: ``1.34× cuBLAS (1.31 to 1.37)``."""
    if ratio.low == ratio.high:
        return f"{ratio.value:.2f}× {library}"
    return f"{ratio.value:.2f}× {library} ({ratio.low:.2f} to {ratio.high:.2f})"


def versions() -> dict[str, str]:
    """Returns the versions of the packages that are installed here; without PyTorch and CuPy there are no baselines."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def holds_for(pack: Pack, device: DeviceInfo, installed: Mapping[str, str]) -> str:
    """Returns a digest of all that a time depends on: pack, baselines, card, driver, versions and how it is measured.

    Where it differs, a time is measured again.
    """
    parts: list[bytes] = [pack.digest.encode(), repr(pack.baselines).encode(), device.key.encode()]
    parts.append(json.dumps([device.details.get("driver"), *sorted(installed.items())]).encode())
    files = [pack.directory / FILE, *(_HERE / name for name in ("calls.py", "timer.py", "rounds.py", "settings.py"))]
    parts += [file.read_bytes() for file in files if file.is_file()]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}\0".encode() + part)
    return digest.hexdigest()


def load_times(pack: Pack, device: DeviceInfo, settings: JudgeSettings) -> tuple[LibraryTime, ...] | None:
    """Returns the kept times that hold for this machine now, or None."""
    try:
        kept = json.loads(_file(pack, device, settings).read_text())
        if kept["holds_for"] != holds_for(pack, device, versions()):
            return None
        return read_times(kept["times"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store_times(pack: Pack, device: DeviceInfo, settings: JudgeSettings, times: Sequence[LibraryTime]) -> None:
    """Keeps times for ``load_times``. Raises OSError."""
    file = _file(pack, device, settings)
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"holds_for": holds_for(pack, device, versions()), "times": times_json(times)}, indent=2)
    beside = file.with_name(f"{file.name}.{os.getpid()}")
    beside.write_text(text)
    beside.replace(file)


def times_json(times: Sequence[LibraryTime]) -> list[dict[str, Any]]:
    """Returns times as JSON has them."""
    return [dataclasses.asdict(each) for each in times]


def read_times(rows: Sequence[Mapping[str, Any]]) -> tuple[LibraryTime, ...]:
    """Reads the output of ``times_json``. Raises TypeError for anything else."""
    return tuple(LibraryTime(**row) for row in rows)


def _file(pack: Pack, device: DeviceInfo, settings: JudgeSettings) -> Path:
    return settings.data_dir / "baselines" / f"{device_hash(device)}-{pack.slug}.json"
