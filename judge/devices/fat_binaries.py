"""The device code in a library's file, found without loading it: nothing of the library runs."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
#: Magic, version, the header's own size, the size of what follows it.
_BINARY = struct.Struct("<IHHQ")
_MAGIC = 0xBA55ED50
_ALIGNMENT = 8


def fat_binaries(library: bytes) -> list[bytes]:
    """The fat binaries of a 64-bit ELF file, as the driver loads them; none where the file has none, or is damaged."""
    try:
        return [binary for section in _sections(library, b".nv_fatbin") for binary in _binaries(section)]
    except (struct.error, IndexError):
        return []


def _binaries(section: bytes) -> Iterator[bytes]:
    at = 0
    while at + _BINARY.size <= len(section):
        magic, _, header_bytes, size = _BINARY.unpack_from(section, at)
        end = at + header_bytes + size
        if magic == _MAGIC and end <= len(section):
            yield section[at:end]
            at = max(at, end - _ALIGNMENT)
        at += _ALIGNMENT
        at -= at % _ALIGNMENT


def _sections(library: bytes, name: bytes) -> Iterator[bytes]:
    header = _HEADER.unpack_from(library)
    table_at, entry_bytes, count, names_index = header[6], header[11], header[12], header[13]
    if not header[0].startswith(b"\x7fELF\x02") or entry_bytes != _SECTION.size:
        return
    sections = [_SECTION.unpack_from(library, table_at + index * entry_bytes) for index in range(count)]
    names_at = sections[names_index][4]
    for section in sections:
        begin = names_at + section[0]
        if library[begin : begin + len(name) + 1] == name + b"\0":
            yield library[section[4] : section[4] + section[5]]
