"""The fat binaries in a program's file, found without loading it: nothing of the program runs."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from emulator.runtime.fatbinary import FatBinaryError
from emulator.runtime.modules import digest_of

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_IMAGE = struct.Struct("<IHHQ")
_MAGIC = 0xBA55ED50
_ALIGNMENT = 8


def images_of(program: bytes) -> dict[bytes, bytes]:
    """The fat binaries of a 64-bit ELF file, by the hash of their PTX (``runtime.modules.digest_of``). What cannot be
    read is left out. Programs that were linked from several objects with ``-rdc=true`` have none that could be told.
    """
    found = {}
    for section in _sections(program, b".nv_fatbin"):
        for image in _images(section):
            try:
                found[digest_of(image)] = image
            except (FatBinaryError, struct.error):
                continue
    return found


def _images(section: bytes) -> Iterator[bytes]:
    at = 0
    while at + _IMAGE.size <= len(section):
        magic, _, header_size, size = _IMAGE.unpack_from(section, at)
        if magic != _MAGIC:
            at += _ALIGNMENT
            continue
        end = at + header_size + size
        if end > len(section):
            return
        yield section[at:end]
        at = max(at + _ALIGNMENT, -(-end // _ALIGNMENT) * _ALIGNMENT)


def _sections(program: bytes, name: bytes) -> Iterator[bytes]:
    try:
        header = _HEADER.unpack_from(program)
        table_at, entry_size, count, names_index = header[6], header[11], header[12], header[13]
        if not header[0].startswith(b"\x7fELF\x02") or entry_size != _SECTION.size:
            return
        sections = [_SECTION.unpack_from(program, table_at + index * entry_size) for index in range(count)]
        names = sections[names_index]
    except (struct.error, IndexError):
        return
    for section in sections:
        begin = names[4] + section[0]
        if program[begin : begin + len(name) + 1] == name + b"\0":
            yield program[section[4] : section[4] + section[5]]
