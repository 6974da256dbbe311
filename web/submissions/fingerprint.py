"""On what a time was measured, as a table: what the judge is known to write gets a name, anything else its key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from web.formatting import size, whole

_LABELS = {
    "gpu": "GPU",
    "uuid_hash": "GPU, by a hash of its UUID",
    "cuda_driver": "CUDA of the driver",
    "clock_khz": "SM clock at most",
    "memory_bytes": "Memory",
    "memory_clock_khz": "Memory clock at most",
    "nvcc": "nvcc",
    "nvcc_flags": "Flags of nvcc",
    "calibrated": "Peaks measured on",
    "seen sm_mhz": "SM clock while timed",
    "seen memory_mhz": "Memory clock while timed",
    "seen temperature_c": "Temperature while timed",
    "seen power_w": "Power while timed",
    "seen power_capped": "Power cap reached",
    "seen other_processes": "Other processes on the GPU",
    "seen bursts_dropped": "Bursts dropped for throttling",
}
#: How numbers are written whose key ends so.
_UNITS: dict[str, Callable[[float], str]] = {
    "bytes": size,
    "khz": lambda value: f"{whole(value / 1000)} MHz",
    "mhz": lambda value: f"{whole(value)} MHz",
    "c": lambda value: f"{value:g} °C",
    "w": lambda value: f"{value:.0f} W",
}


def present_fingerprint(fingerprint: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Labels and texts; nested parts by their path."""
    return tuple(_rows(fingerprint, ()))


def _rows(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _rows(part, (*path, str(key)))
    elif (
        isinstance(value, Sequence) and not isinstance(value, str) and any(isinstance(part, Mapping) for part in value)
    ):
        for number, part in enumerate(value, start=1):
            yield from _rows(part, (*path, str(number)))
    elif value is not None and value not in ("", []):
        key = " ".join(path)
        words = key.replace("_", " ")
        yield _LABELS.get(key, words[:1].upper() + words[1:]), _text(value, _UNITS.get(key.rpartition("_")[2], _plain))


def _text(value: Any, written: Callable[[Any], str]) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        numbers = [part for part in value if isinstance(part, int | float)]
        if len(numbers) == len(value) == 2:  # the least and the most
            return " to ".join(dict.fromkeys(written(part) for part in numbers))
        return " ".join(_text(part, written) for part in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return written(value)


def _plain(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
