"""Where in a program's source its host code called: by binutils' ``addr2line``, where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from emulator.runtime.report import Frame

_TIMEOUT_S = 20
# What nvcc puts between a launch and its kernel's stub, and the toolkit's inline functions.
_NOT_OURS = (".stub.c", "cuda_runtime.h", "cuda_runtime_api.h", "crt/host_runtime.h", "launch_functions")
_OVERLOAD = re.compile(r"\bcuda[A-Z]\w*<")  # the toolkit's templates, such as cudaMalloc<float>
_SYSTEM = ("libc.so", "ld-linux", "libstdc++.so", "libgcc_s.so", "libpython", "_ctypes.")


@dataclass(frozen=True, slots=True)
class Place:
    """``file`` and ``line`` are None without debug information (``nvcc -g``)."""

    function: str
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.function} ({self.file}:{self.line})" if self.file else self.function


class Places:
    """Looks up all frames at once: one process for each ELF file."""

    def __init__(self, frames: Iterable[Frame]) -> None:
        self._known: dict[tuple[str, int], list[Place]] = {}
        by_file: dict[str, set[int]] = {}
        for frame in frames:
            if not Path(frame.file).name.startswith(_SYSTEM):
                by_file.setdefault(frame.file, set()).add(frame.offset)
        for file, offsets in by_file.items():
            for offset, places in _look_up(file, sorted(offsets)).items():
                self._known[file, offset] = places

    def of(self, frames: Sequence[Frame]) -> Place | None:
        """The innermost place in the program's own source; None when nothing is known."""
        candidates = [place for frame in frames for place in self._of(frame)]
        ours = [place for place in candidates if _is_ours(place)]
        return next((place for place in ours if place.file), ours[0] if ours else None)

    def _of(self, frame: Frame) -> list[Place]:
        found = self._known.get((frame.file, frame.offset), [])
        return found or ([Place(frame.function)] if frame.function and not frame.function.startswith("__libc") else [])


def _is_ours(place: Place) -> bool:
    if "__device_stub_" in place.function or _OVERLOAD.search(place.function):
        return False
    return place.file is None or not any(part in place.file for part in _NOT_OURS)


def _look_up(file: str, offsets: Sequence[int]) -> dict[int, list[Place]]:
    tool = shutil.which("addr2line")
    if tool is None or not Path(file).is_file():
        return {}
    command = [tool, "--addresses", "--functions", "--inlines", "--demangle", f"--exe={file}", *map(hex, offsets)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    places: dict[int, list[Place]] = {}
    lines = iter(done.stdout.decode(errors="replace").splitlines())
    current: list[Place] = []
    for line in lines:
        if line.startswith("0x"):
            current = places.setdefault(int(line, 16), [])
            continue
        path, _, number = next(lines, "??:?").split(" (discriminator")[0].rpartition(":")
        function = line.split("(")[0] if line.endswith(")") else line
        if function != "??":
            known = path != "??" and number.isdecimal() and number != "0"
            current.append(Place(function, path, int(number)) if known else Place(function))
    return places
