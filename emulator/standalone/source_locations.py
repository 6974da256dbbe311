"""Finds the source lines of stack frames in a program's host code with binutils' ``addr2line``, if it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from emulator.runtime.report import Frame
from records import dataclass

_TIMEOUT_S = 20
# What nvcc puts between a launch and its kernel's stub, and the toolkit's inline functions.
_NOT_OURS = (".stub.c", "cuda_runtime.h", "cuda_runtime_api.h", "crt/host_runtime.h", "launch_functions")
_OVERLOAD = re.compile(r"\bcuda[A-Z]\w*<")  # the toolkit's templates, such as cudaMalloc<float>
_SYSTEM = ("libc.so", "ld-linux", "libstdc++.so", "libgcc_s.so", "libpython", "_ctypes.")


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """``file`` and ``line`` are None without debug information (``nvcc -g``)."""

    function: str
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.function} ({self.file}:{self.line})" if self.file else self.function


class SourceLocations:
    """Looks up all frames at once: one process for each ELF file."""

    def __init__(self, frames: Iterable[Frame]) -> None:
        self._known: dict[tuple[str, int], list[SourceLocation]] = {}
        by_file: dict[str, set[int]] = {}
        for frame in frames:
            if not Path(frame.file).name.startswith(_SYSTEM):
                by_file.setdefault(frame.file, set()).add(frame.offset)
        for file, offsets in by_file.items():
            for offset, locations in _look_up(file, sorted(offsets)).items():
                self._known[file, offset] = locations

    def of(self, frames: Sequence[Frame]) -> SourceLocation | None:
        """Returns the innermost location in the program's own source; None when nothing is known."""
        candidates = [location for frame in frames for location in self._of(frame)]
        ours = [location for location in candidates if _is_ours(location)]
        return next((location for location in ours if location.file), ours[0] if ours else None)

    def _of(self, frame: Frame) -> list[SourceLocation]:
        found = self._known.get((frame.file, frame.offset), [])
        if found or not frame.function or frame.function.startswith("__libc"):
            return found
        return [SourceLocation(frame.function)]


def _is_ours(location: SourceLocation) -> bool:
    if "__device_stub_" in location.function or _OVERLOAD.search(location.function):
        return False
    return location.file is None or not any(part in location.file for part in _NOT_OURS)


def _look_up(file: str, offsets: Sequence[int]) -> dict[int, list[SourceLocation]]:
    tool = shutil.which("addr2line")
    if tool is None or not Path(file).is_file():
        return {}
    command = [tool, "--addresses", "--functions", "--inlines", "--demangle", f"--exe={file}", *map(hex, offsets)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    locations: dict[int, list[SourceLocation]] = {}
    lines = iter(done.stdout.decode(errors="replace").splitlines())
    current: list[SourceLocation] = []
    for line in lines:
        if line.startswith("0x"):
            current = locations.setdefault(int(line, 16), [])
            continue
        path, _, number = next(lines, "??:?").split(" (discriminator")[0].rpartition(":")
        function = line.split("(")[0] if line.endswith(")") else line
        if function != "??":
            known = path != "??" and number.isdecimal() and number != "0"
            current.append(SourceLocation(function, path, int(number)) if known else SourceLocation(function))
    return locations
