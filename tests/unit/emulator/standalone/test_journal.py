"""The journal of a program comes from a process that nobody vouches for: whatever is in it, reading it ends well."""

from __future__ import annotations

import ctypes
import random
import struct
from pathlib import Path

import pytest

from emulator.runtime import library as native
from emulator.runtime.native_report import take_report

PROGRAM, LIMIT, UNSUPPORTED = 0, 8, 9  # as enum Entry of native/report/journal.h


@pytest.fixture
def reader(library: Path) -> ctypes.CDLL:
    return native.load(library)


def _entry(kind: int, content: bytes) -> bytes:
    return struct.pack("=II", kind, len(content)) + content


def _text(value: bytes) -> bytes:
    return struct.pack("=I", len(value)) + value


def test_what_was_written_before_a_crash_is_read(reader: ctypes.CDLL) -> None:
    whole = _entry(PROGRAM, struct.pack("=I", 12) + _text(b"/bin/prog")) + _entry(UNSUPPORTED, _text(b"textures"))
    journal = whole + _entry(LIMIT, _text(b"memory"))[:-2]

    assert reader.emu_report_replay(journal, len(journal)) == 1
    report = take_report(reader)

    assert report.unsupported == "textures"
    assert report.limit is None
    assert report.ending is not None
    assert (report.ending.process, report.ending.program, report.ending.is_regular) == (12, "/bin/prog", False)


def test_any_bytes_are_read_to_their_end(reader: ctypes.CDLL) -> None:
    random_ = random.Random(1)
    for _ in range(2000):
        kind, size = random_.randrange(24), random_.choice((0, 1, 4, 8, 40, 200))
        content = random_.randbytes(size) if random_.random() < 0.5 else bytes(size)
        journal = _entry(kind, content) + random_.randbytes(random_.randrange(12))
        reader.emu_report_replay(journal, len(journal))
    take_report(reader)
