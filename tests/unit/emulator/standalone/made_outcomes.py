"""An outcome with one of each kind of thing that a report tells."""

from __future__ import annotations

from pathlib import Path

from emulator.runtime.report import Ending, Finding, Leak, Party, Report
from emulator.standalone.session import Outcome


def outcome(folder: Path, *, source: str = "src/scale.cu") -> Outcome:
    """A bad write, a race with both lines, a leak without a line, and a note, of a source below ``folder``."""
    file = str(folder / source)
    write = Finding(
        kind="out-of-bounds write",
        is_write=True,
        message="out-of-bounds write of 4 bytes at scale.cu:5 in scale: 100% wrong\nby 4 bytes, past the end",
        kernel="scale",
        file=file,
        line=5,
        thread=(1, 0, 0),
        block=(0, 0, 0),
        address=8,
        size=4,
        allocation="cudaMalloc #1",
        count=24,
    )
    race = Finding(
        kind="race on shared memory",
        is_write=True,
        message="race on shared memory: a write and a read without __syncthreads() between them",
        kernel="sum",
        file=file,
        line=12,
        thread=(0, 0, 0),
        block=(0, 0, 0),
        address=0,
        size=4,
        allocation="parts",
        other=Party(file, 14, (32, 0, 0), (0, 0, 0), is_write=False),
    )
    note = Finding(
        kind="undefined shuffle",
        is_write=False,
        message="undefined shuffle in sum",
        kernel="sum",
        file=file,
        line=20,
        thread=(0, 0, 0),
        block=(0, 0, 0),
        address=0,
        size=0,
        allocation=None,
    )
    report = Report(
        findings=(write, race, note),
        leaks=(Leak("cudaMalloc #2", 64),),
        leak_count=1,
        leaked_bytes=64,
        ending=Ending(17, "scale", None, (), None, is_regular=True),
    )
    return Outcome(exit_code=1, signal=None, reports=(report,))
