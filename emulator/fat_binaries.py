"""Finds the fat binaries in a program's file without loading it: nothing of the program runs.

A fat binary is the container in which nvcc puts PTX and machine code; ``runtime.fatbinary`` reads what is inside.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from emulator.elf import ElfError, ElfFile

SECTION = b".nv_fatbin"

#: Magic, version, the header's own size, the size of what follows it.
_HEADER = struct.Struct("<IHHQ")
_MAGIC = 0xBA55ED50
_ALIGNMENT = 8


def fat_binaries(program: bytes) -> list[bytes]:
    """Returns the fat binaries of a 64-bit ELF file; none where the file has none or is damaged."""
    try:
        elf = ElfFile.from_bytes(program)
        return [binary for section in elf.named(SECTION) for binary in _split(elf.content(section, len(program)))]
    except ElfError:
        return []


def _split(section: bytes) -> Iterator[bytes]:
    at = 0
    while at + _HEADER.size <= len(section):
        magic, _, header_bytes, size = _HEADER.unpack_from(section, at)
        end = at + header_bytes + size
        if magic == _MAGIC and end <= len(section):
            yield section[at:end]
            at = max(at + _ALIGNMENT, -(-end // _ALIGNMENT) * _ALIGNMENT)
        else:
            at += _ALIGNMENT
