"""The modelled time between two events of a running program, from its library's journal of the launches."""

from __future__ import annotations

import ctypes
import threading
from dataclasses import field
from pathlib import Path

from emulator.model import Gpu, modelled_time
from emulator.runtime.native_report import take_report
from records import dataclass


@dataclass(slots=True)
class _Process:
    read_bytes: int = 0
    seconds: list[float] = field(default_factory=list)


class LaunchTimes:
    """``folder`` has the journals, of any number of processes; ``library`` reads them. Safe with threads."""

    def __init__(self, folder: Path, library: ctypes.CDLL, gpu: Gpu) -> None:
        self._folder = folder
        self._library = library
        self._gpu = gpu
        self._lock = threading.Lock()
        self._processes: dict[int, _Process] = {}

    def between(self, process: int, first: int, last: int) -> float:
        """Returns the seconds from before launch ``first`` of a process to before launch ``last``, counted from 0."""
        with self._lock:
            known = self._processes.setdefault(process, _Process())
            if len(known.seconds) < last:
                self._read(process, known)
            return self._gpu.launch.first_s + sum(known.seconds[first:last])

    def _read(self, process: int, known: _Process) -> None:
        """Reads the journal's new entries. The program waits meanwhile, so that it has all."""
        with (self._folder / f"report-{process}").open("rb") as journal:
            journal.seek(known.read_bytes)
            added = journal.read()
        known.read_bytes += len(added)
        self._library.emu_report_replay(added, len(added))
        for launch in take_report(self._library).launches:
            # Of very many launches the last are not profiled: they are taken to be like the one before.
            like_before = known.seconds[-1] if known.seconds else 0.0
            known.seconds.append(modelled_time(launch, self._gpu).seconds if launch.profile else like_before)
