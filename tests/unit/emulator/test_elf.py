"""ELF files: whole, of the wrong kind, and damaged on purpose."""

from __future__ import annotations

import contextlib
import os
import struct
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.elf import ElfError, ElfFile
from emulator.fat_binaries import fat_binaries

_NAMES = b"\0.names\0.symtab\0.strtab\0.dynamic\0.dynstr\0.nv_fatbin\0.bss\0"
_STRINGS = b"\0solve\0hidden\0elsewhere\0"
_LIBRARIES = b"\0libcudart.so.13\0"
_FAT = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 8) + b"content!"
_HEADER_BYTES, _ROW_BYTES = 64, 64


def _symbol(name: bytes, section: int, value: int) -> bytes:
    return struct.pack("<IBBHQQ", _STRINGS.index(b"\0" + name) + 1, 0, 0, section, value, 0)


def _file() -> bytes:
    """A file with every section that readers ask for; the section table comes last."""
    symbols = bytes(24) + _symbol(b"solve", 3, 0x40) + _symbol(b"hidden", 3, 0x80) + _symbol(b"elsewhere", 0, 0)
    dynamic = struct.pack("<qQqQ", 1, 1, 0, 0)
    contents = [
        (b".names", 3, 0, _NAMES),
        (b".symtab", 2, 3, symbols),
        (b".strtab", 3, 0, _STRINGS),
        (b".dynamic", 6, 5, dynamic),
        (b".dynstr", 3, 0, _LIBRARIES),
        (b".nv_fatbin", 1, 0, b"padding!" + _FAT + _FAT),
        (b".bss", 8, 0, b""),
    ]
    rows, body = [bytes(_ROW_BYTES)], b""
    for name, kind, link, data in contents:
        size = len(data) or 1 << 40
        at = _HEADER_BYTES + len(body)
        rows.append(struct.pack("<IIQQQQIIQQ", _NAMES.index(name + b"\0"), kind, 0, 0, at, size, link, 0, 0, 0))
        body += data
    table_at = _HEADER_BYTES + len(body)
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = struct.pack("<16sHHIQQQIHHHHHH", identity, 3, 62, 1, 0, 0, table_at, 0, 64, 0, 0, _ROW_BYTES, len(rows), 1)
    return header + body + b"".join(rows)


FILE = _file()


def _read_all(data: bytes) -> None:
    """All that a reader can ask of a file."""
    elf = ElfFile.from_bytes(data)
    for section in elf.sections:
        assert len(elf.content(section)) in (0, section.size)
    list(elf.symbols())
    elf.dynamic_strings(1)


def test_sections_symbols_and_needed_libraries_are_found() -> None:
    elf = ElfFile.from_bytes(FILE)
    assert [s.name for s in elf.sections[1:]] == _NAMES.strip(b"\0").split(b"\0")
    assert {s.name: (s.section, s.value) for s in elf.symbols() if s.name} == {
        b"solve": (3, 0x40),
        b"hidden": (3, 0x80),
        b"elsewhere": (0, 0),
    }
    assert elf.dynamic_strings(1) == (b"libcudart.so.13",)
    assert fat_binaries(FILE) == [_FAT, _FAT]


def test_a_section_without_bytes_in_the_file_is_empty() -> None:
    elf = ElfFile.from_bytes(FILE)
    (bss,) = elf.named(b".bss")
    assert bss.size == 1 << 40
    assert elf.content(bss) == b""


def test_an_open_file_reads_as_bytes_do() -> None:
    fd = os.memfd_create("library")
    try:
        os.write(fd, FILE)
        elf = ElfFile.from_descriptor(fd)
        assert elf.sections == ElfFile.from_bytes(FILE).sections
        assert list(elf.symbols()) == list(ElfFile.from_bytes(FILE).symbols())
    finally:
        os.close(fd)


def test_a_program_of_this_machine_can_be_read() -> None:
    _read_all(Path(sys.executable).resolve().read_bytes())


def test_a_section_larger_than_allowed_is_not_read() -> None:
    elf = ElfFile.from_bytes(FILE)
    (section,) = elf.named(b".nv_fatbin")
    with pytest.raises(ElfError, match="more than 8"):
        elf.content(section, most_bytes=8)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x7fELF",
        b"MZ" * 100,
        FILE.replace(b"\x7fELF\x02", b"\x7fELF\x01"),  # 32 bits
        FILE.replace(b"\x7fELF\x02\x01", b"\x7fELF\x02\x02"),  # big-endian
        b"\x7fELF\x02\x01" + b"\xff" * 200,
    ],
    ids=["empty", "magic alone", "foreign", "32 bits", "big-endian", "all ones"],
)
def test_what_is_no_such_file_is_refused(data: bytes) -> None:
    with pytest.raises(ElfError):
        ElfFile.from_bytes(data)
    assert fat_binaries(data) == []


def test_a_file_cut_short_is_refused() -> None:
    for size in range(len(FILE)):
        with pytest.raises(ElfError):
            ElfFile.from_bytes(FILE[:size])


@given(st.integers(0, len(FILE) - 1), st.binary(min_size=1, max_size=16))
def test_a_damaged_file_gives_an_error_or_values_from_within_it(at: int, damage: bytes) -> None:
    data = FILE[:at] + damage + FILE[at + len(damage) :]
    with contextlib.suppress(ElfError):
        _read_all(data)
    assert all(binary in data for binary in fat_binaries(data))


@given(st.binary(max_size=400))
def test_arbitrary_bytes_behind_the_magic_give_an_error_or_a_file(data: bytes) -> None:
    with contextlib.suppress(ElfError):
        _read_all(b"\x7fELF\x02\x01" + data)


def test_a_descriptor_that_cannot_be_read_is_an_elf_error() -> None:
    fd = os.memfd_create("closed")
    os.close(fd)
    with pytest.raises(ElfError, match="cannot read"):
        ElfFile.from_descriptor(fd)
