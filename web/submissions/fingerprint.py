"""The measurement's fingerprint (GPU, driver, compiler, clocks) as a table. Unlabelled fields show their key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from judge.judgement_json import to_json
from judge.measurements import Fingerprint
from web.formatting import size, whole

_LABELS = {
    "gpu": "GPU",
    "device": "Device",
    "uuid_hash": "Card (hash of the GPU's UUID)",
    "ordinal": "Card's number on its machine",
    "cuda_driver": "CUDA version of the driver",
    "clock_khz": "Maximum SM clock",
    "memory_bytes": "Memory",
    "memory_clock_khz": "Maximum memory clock",
    "nvcc": "nvcc",
    "nvcc_flags": "nvcc flags",
    "pytorch": "PyTorch, and what of it kernels had",
    "calibrated": "Peaks calibrated on",
    "seen sm_mhz": "SM clock while timed",
    "seen memory_mhz": "Memory clock while timed",
    "seen temperature_c": "Temperature while timed",
    "seen power_w": "Power while timed",
    "seen power_capped": "Power cap reached",
    "seen other_processes": "Other processes on the GPU",
    "seen bursts_dropped": "Bursts dropped for throttling",
}
#: How to format a number, by the last word of its key.
_UNITS: dict[str, Callable[[float], str]] = {
    "bytes": size,
    "khz": lambda value: f"{whole(value / 1000)} MHz",
    "mhz": lambda value: f"{whole(value)} MHz",
    "c": lambda value: f"{value:g} °C",
    "w": lambda value: f"{value:.0f} W",
}


def present_fingerprint(fingerprint: Fingerprint) -> tuple[tuple[str, str], ...]:
    """Returns pairs of label and text. Nested fields are named by their path."""
    facts = to_json(fingerprint)
    other = facts.pop("other", {})
    return tuple(_rows({**facts, **other}, ()))


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
        if len(numbers) == len(value) == 2:  # the minimum and the maximum
            return " to ".join(dict.fromkeys(written(part) for part in numbers))
        return " ".join(_text(part, written) for part in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return written(value)


def _plain(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
